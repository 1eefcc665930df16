// The line between a browser and the server, which can be cut: a browser's own "offline" leaves open streams alone.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class Line {
  /** `silent` takes everything and carries nothing, as a train in a tunnel does. */
  private state: 'whole' | 'cut' | 'silent' = 'whole';
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly door: Server,
    private readonly port: number,
  ) {
    door.on('connection', (near) => this.carry(near));
  }

  /** A line to this port of this machine. */
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

  /** Keeps the connections, but nothing comes through any more. */
  silence(): void {
    this.state = 'silent';
    for (const socket of this.sockets) socket.pause();
  }

  mend(): void {
    const old = [...this.sockets];
    this.state = 'whole';
    // What was sent into the silence is lost, so the connections from then cannot go on.
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
    // A lost side must be seen on the other one at once, and not as a clean end.
    near.on('close', () => far.resetAndDestroy());
    far.on('close', () => (far.errored ? near.resetAndDestroy() : near.end()));
  }

  private keep(socket: Socket): void {
    this.sockets.add(socket);
    // An error is followed by `close`, which is dealt with.
    socket.on('error', () => {});
    socket.on('close', () => this.sockets.delete(socket));
  }
}
