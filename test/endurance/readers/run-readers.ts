/**
 * A process whose connections send a request and read no response, each from one of 200 loopback addresses. Arguments:
 * host with port, path, how many. Prints `asked` on a line once all have sent their requests.
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

// Connections that are paused do not keep a process alive.
setInterval(() => {}, 60_000)
