// A proxy between browser and server that can be disconnected: the browser's own "offline" leaves open streams alone.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class BreakableProxy {
  /** `stalled` accepts connections and data but forwards nothing. */
  private state: 'connected' | 'disconnected' | 'stalled' = 'connected';
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly listener: Server,
    private readonly port: number,
  ) {
    listener.on('connection', (client) => this.forward(client));
  }

  /** Starts a proxy to this local port. */
  static async to(port: number): Promise<BreakableProxy> {
    const listener = createServer().listen(0, '127.0.0.1');
    await once(listener, 'listening');
    return new BreakableProxy(listener, port);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.listener.address() as AddressInfo).port}`;
  }

  /** Breaks every connection and refuses new ones. */
  disconnect(): void {
    this.state = 'disconnected';
    for (const socket of this.sockets) socket.resetAndDestroy();
  }

  /** Keeps the connections open, but forwards nothing. */
  stall(): void {
    this.state = 'stalled';
    for (const socket of this.sockets) socket.pause();
  }

  reconnect(): void {
    const old = [...this.sockets];
    this.state = 'connected';
    // Data sent while stalled is lost, so those connections can't continue.
    for (const socket of old) socket.resetAndDestroy();
  }

  close(): void {
    this.disconnect();
    this.listener.close();
  }

  private forward(client: Socket): void {
    if (this.state === 'disconnected') {
      client.resetAndDestroy();
      return;
    }
    this.track(client);
    if (this.state === 'stalled') {
      client.pause();
      return;
    }
    const upstream = connect(this.port, '127.0.0.1');
    this.track(upstream);
    client.pipe(upstream);
    upstream.pipe(client);
    // A lost connection must be visible on the other side at once, and not as a clean end.
    client.on('close', () => upstream.resetAndDestroy());
    upstream.on('close', () => (upstream.errored ? client.resetAndDestroy() : client.end()));
  }

  private track(socket: Socket): void {
    this.sockets.add(socket);
    // An error is followed by `close`, which is handled.
    socket.on('error', () => {});
    socket.on('close', () => this.sockets.delete(socket));
  }
}
