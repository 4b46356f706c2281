// Uses every free tool through a client, whichever library the client is from.

import { privateKeyToAccount } from 'viem/accounts'

const { PRIVATE_KEY, BLOCK, IMAGE } = process.env

/** Calls every free tool; `call` takes a name and arguments, and returns a result with `structuredContent`. */
export async function useEveryTool(names, call) {
  const account = privateKeyToAccount(PRIVATE_KEY)
  const used = []
  const use = async (name, args = {}) => {
    const { structuredContent, isError, content } = await call(name, args)
    if (isError || structuredContent === undefined) throw new Error(`${name}: ${JSON.stringify(content)}`)
    used.push(name)
    return structuredContent
  }
  await use('get_wall')
  await use('get_block', { coord: BLOCK })
  await use('list_unclaimed')
  await use('get_founding_machines')
  await use('get_wall_image')
  await use('find_space')
  await use('preview_block', { coord: 'next' })
  await use('my_wall', { wallet: account.address })
  const { blocks } = await use('image_to_pixels', { image: IMAGE })
  const set = async (kind, wanted) => {
    const { message, call: change } = await use('signing_message', { kind, ...wanted })
    await use(change.name, { ...change.arguments, signature: await account.signMessage({ message }) })
  }
  await set('register', { wallet: account.address, name: `by ${process.env.CLIENT}`.slice(0, 40) })
  await set('set_painter', { wallet: account.address, painter: account.address })
  const area = `${BLOCK},1x1`
  const ts = Date.now()
  const fields = ['pixels_present=0', 'pixels=', 'message_present=1', 'message=an area', 'link_present=0', 'link=']
  const text = ['127.0.0.1', 'set_area v1', `area=${area}`, `ts=${ts}`, ...fields].join('\n')
  await use('set_area', { area, ts, message: 'an area', signature: await account.signMessage({ message: text }) })
  await set('set_pixels', { coord: BLOCK, pixels: blocks[0].px, message: `by ${process.env.CLIENT}` })
  console.log(JSON.stringify({ names, used }))
}

/** Calls every free tool with a client of an official SDK. */
export async function useEveryToolOf(client, transport) {
  await client.connect(transport)
  const { tools } = await client.listTools()
  await useEveryTool(
    tools.map(({ name }) => name),
    (name, args) => client.callTool({ name, arguments: args }),
  )
  await client.close()
}
