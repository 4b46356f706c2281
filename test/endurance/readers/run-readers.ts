/**
 * A process whose connections, from 200 loopback addresses, each send a request and do not read the response.
 * Arguments: host with port, path, number of connections. Prints `asked` on a line once all have sent their requests.
 */

import { connect } from 'node:net'

const [host = '', path = '', count = '0'] = Bun.argv.slice(2)
const { hostname, port } = new URL(`http://${host}`)

const ADDRESSES = 200

let asked = 0
for (let at = 0; at < Number(count); at++) {
  const localAddress = `127.0.1.${1 + (at % ADDRESSES)}`
  const socket = connect({ host: hostname, port: Number(port), localAddress }, () => {
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    asked += 1
    if (asked === Number(count)) console.log('asked')
  })
  socket.pause()
  socket.on('error', () => {})
}

// The timer keeps the process alive; paused connections do not.
setInterval(() => {}, 60_000)
