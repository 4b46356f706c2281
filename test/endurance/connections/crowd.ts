/**
 * A process that holds connections open and never finishes a request: some send nothing, some half a header, some
 * announce a body. Closed connections are reopened. Arguments: host with port, number of connections. Prints `held` on
 * a line once all are open.
 */

import { connect } from 'node:net'

const [host = '', count = '0'] = Bun.argv.slice(2)
const { hostname, port } = new URL(`http://${host}`)

const beginnings = [
  '',
  'GET /api/health HTTP/1.1\r\nHost: wall.test\r\nX-Slow: ',
  'PUT /blocks/0,0 HTTP/1.1\r\nHost: wall.test\r\nContent-Type: application/json\r\nContent-Length: 4000\r\n\r\n{',
]

// A server's queue of connections that it has yet to accept is short.
const OPENING_MAX = 100

let held = 0
let opening = 0
let waiting = Number(count)

function openMore(): void {
  while (waiting > 0 && opening < OPENING_MAX) {
    waiting -= 1
    opening += 1
    openConnection(beginnings[(held + opening) % beginnings.length] ?? '')
  }
}

function openConnection(beginning: string): void {
  let isOpen = false
  const socket = connect({ host: hostname, port: Number(port) }, () => {
    isOpen = true
    opening -= 1
    held += 1
    if (beginning !== '') socket.write(beginning)
    if (held === Number(count)) console.log('held')
    openMore()
  })
  socket.on('data', () => {})
  socket.on('error', () => {})
  socket.once('close', () => {
    if (isOpen) held -= 1
    else opening -= 1
    waiting += 1
    setTimeout(openMore, 100)
  })
}

openMore()
