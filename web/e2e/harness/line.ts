// A proxy between browser and server that can be disconnected: the browser's own "offline" leaves open streams alone.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class Line {
  /** `silent` accepts connections and data but forwards nothing. */
  private state: 'whole' | 'cut' | 'silent' = 'whole';
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly door: Server,
    private readonly port: number,
  ) {
    door.on('connection', (near) => this.carry(near));
  }

  /** Starts a proxy to this local port. */
  static async to(port: number): Promise<Line> {
    const door = createServer().listen(0, '127.0.0.1');
    await once(door, 'listening');
    return new Line(door, port);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.door.address() as AddressInfo).port}`;
  }

  /** Breaks every connection and refuses new ones. */
  cut(): void {
    this.state = 'cut';
    for (const socket of this.sockets) socket.resetAndDestroy();
  }

  /** Keeps the connections open, but forwards nothing. */
  silence(): void {
    this.state = 'silent';
    for (const socket of this.sockets) socket.pause();
  }

  mend(): void {
    const old = [...this.sockets];
    this.state = 'whole';
    // Data sent while silent is lost, so those connections can't continue.
    for (const socket of old) socket.resetAndDestroy();
  }

  close(): void {
    this.cut();
    this.door.close();
  }

  private carry(near: Socket): void {
    if (this.state === 'cut') {
      near.resetAndDestroy();
      return;
    }
    this.keep(near);
    if (this.state === 'silent') {
      near.pause();
      return;
    }
    const far = connect(this.port, '127.0.0.1');
    this.keep(far);
    near.pipe(far);
    far.pipe(near);
    // A lost connection must be visible on the other side at once, and not as a clean end.
    near.on('close', () => far.resetAndDestroy());
    far.on('close', () => (far.errored ? near.resetAndDestroy() : near.end()));
  }

  private keep(socket: Socket): void {
    this.sockets.add(socket);
    // An error is followed by `close`, which is handled.
    socket.on('error', () => {});
    socket.on('close', () => this.sockets.delete(socket));
  }
}
