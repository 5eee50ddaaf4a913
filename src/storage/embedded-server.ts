/**
 * Serves the embedded database over PostgreSQL's wire protocol, one request cycle at a time. Design section 2, "database".
 * All connections share PGlite's one session, and with it the unnamed statement: a cycle (Parse, Bind, ..., Sync) must not
 * be cut into by another connection's, or its parameters would be bound to a foreign statement. So messages are gathered
 * up to the end of their cycle, and a connection with an open transaction keeps the session until it ends.
 */
import { createServer, type Server, type Socket } from "node:net";

/** The part of PGlite that is served. */
export interface Engine {
  execProtocolRawStream(
    message: Uint8Array,
    options: { onRawData: (data: Uint8Array) => void },
  ): Promise<void>;
  isInTransaction(): boolean;
  exec(sql: string): Promise<unknown>;
}

/** A server that listens. */
export interface EmbeddedServer {
  /** 0 on a Unix socket. */
  readonly port: number;
  /** Stops listening, and cuts the connections after the cycle under way. */
  close(): Promise<void>;
}

interface Connection {
  readonly socket: Socket;
  /** Bytes of a message that is not whole yet. */
  rest: Buffer;
  started: boolean;
  /** Messages of the cycle that is not whole yet. */
  cycle: Uint8Array[];
  gone: boolean;
}

interface Cycle {
  readonly connection: Connection;
  readonly messages: readonly Uint8Array[];
}

const sslRequest = 80_877_103;
const cancelRequest = 80_877_102;
/** Query, Sync, FunctionCall, PasswordMessage: the server answers and is ready for anybody's next cycle. */
const endsCycle = new Set(["Q", "S", "F", "p"].map((letter) => letter.charCodeAt(0)));
const terminate = "X".charCodeAt(0);

/** Where to listen: on a Unix socket's path, else on `port` of 127.0.0.1 (0: any free one). */
export interface ListenPlace {
  readonly path: string | undefined;
  readonly port: number;
}

/** Serves an engine until `close`. */
export async function serveEngine(engine: Engine, place: ListenPlace): Promise<EmbeddedServer> {
  const scheduler = createScheduler(engine);
  const connections = new Set<Connection>();
  const server = createServer({ noDelay: true }, (socket) => {
    const connection: Connection = {
      socket,
      rest: Buffer.alloc(0),
      started: false,
      cycle: [],
      gone: false,
    };
    connections.add(connection);
    socket.on("data", (data: Buffer) => {
      connection.rest =
        connection.rest.length === 0 ? data : Buffer.concat([connection.rest, data]);
      readMessages(connection, (messages) => scheduler.add({ connection, messages }));
    });
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      connection.gone = true;
      connections.delete(connection);
      scheduler.forget(connection);
    });
  });
  await listen(server, place);
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    async close() {
      server.close();
      await scheduler.idle();
      for (const { socket } of connections) socket.destroy();
    },
  };
}

function listen(server: Server, { path, port }: ListenPlace): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    if (path === undefined) server.listen(port, "127.0.0.1", resolve);
    else server.listen(path, resolve);
  });
}

/** Takes the whole messages out of a connection's bytes, and hands on each cycle when it is whole. */
function readMessages(
  connection: Connection,
  onCycle: (messages: readonly Uint8Array[]) => void,
): void {
  for (;;) {
    const message = connection.started ? takeTyped(connection) : takeStartup(connection);
    if (message === undefined) return;
    if (connection.started && message[0] === terminate) {
      connection.socket.end();
      return;
    }
    connection.cycle.push(message);
    // A start-up message has no type; it is a cycle of its own.
    const first = !connection.started;
    connection.started = true;
    if (!first && !endsCycle.has(message[0]!)) continue;
    onCycle(connection.cycle);
    connection.cycle = [];
  }
}

/** One message with its type byte; undefined while it is not whole. */
function takeTyped(connection: Connection): Buffer | undefined {
  const { rest } = connection;
  if (rest.length < 5) return undefined;
  return take(connection, 1 + rest.readInt32BE(1));
}

/** The start-up message, after any request for encryption was declined. */
function takeStartup(connection: Connection): Buffer | undefined {
  for (;;) {
    const { rest, socket } = connection;
    if (rest.length < 8) return undefined;
    const code = rest.readInt32BE(4);
    if (code === cancelRequest) {
      socket.destroy();
      return undefined;
    }
    const message = take(connection, rest.readInt32BE(0));
    if (message === undefined || code !== sslRequest) return message;
    socket.write("N");
  }
}

function take(connection: Connection, length: number): Buffer | undefined {
  const { rest } = connection;
  if (length < 4 || rest.length < length) return undefined;
  connection.rest = rest.subarray(length);
  return rest.subarray(0, length);
}

const parse = "P".charCodeAt(0);
const parseComplete = Buffer.from([0x31, 0, 0, 0, 4]);

/**
 * Prepared statements belong to the session, so to all connections, while each connection believes it has its own: a
 * named statement that is prepared already is answered without preparing it again.
 */
function createStatements() {
  const prepared = new Map<string, string>();
  /** Name and text of a message that prepares a named statement, else undefined. */
  const read = (message: Uint8Array): { name: string; rest: string } | undefined => {
    // After type and length; a zero ends the name, which is empty for the unnamed statement.
    if (message[0] !== parse || message[5] === 0) return undefined;
    const text = Buffer.from(message.buffer, message.byteOffset, message.length).toString(
      "latin1",
      5,
    );
    const end = text.indexOf("\0");
    return { name: text.slice(0, end), rest: text.slice(end + 1) };
  };
  return {
    isPrepared(message: Uint8Array): boolean {
      const statement = read(message);
      return statement !== undefined && prepared.get(statement.name) === statement.rest;
    },
    /** Notes a statement once the engine has answered that it is prepared. */
    note(message: Uint8Array, answer: Uint8Array | undefined): void {
      const statement = read(message);
      if (statement && answer?.[0] === parseComplete[0])
        prepared.set(statement.name, statement.rest);
    },
  };
}

/** Runs cycles one after the other. */
function createScheduler(engine: Engine) {
  const statements = createStatements();
  let queue: Cycle[] = [];
  /** The connection whose transaction is open: only its cycles run until it ends. */
  let owner: Connection | undefined;
  let underWay: Promise<void> | undefined;

  function next(): Cycle | undefined {
    const index = owner === undefined ? 0 : queue.findIndex((cycle) => cycle.connection === owner);
    return index === -1 ? undefined : queue.splice(index, 1)[0];
  }

  async function run({ connection, messages }: Cycle): Promise<void> {
    // The engine reuses its memory: what is written later must be a copy.
    const answers: Buffer[] = [];
    const execute = (bytes: Uint8Array) =>
      engine.execProtocolRawStream(bytes, { onRawData: (data) => answers.push(Buffer.from(data)) });
    let rest = messages;
    const [first] = messages;
    if (first !== undefined && first[0] === parse && messages.length > 1) {
      rest = messages.slice(1);
      if (statements.isPrepared(first)) answers.push(parseComplete);
      else {
        await execute(first);
        statements.note(first, answers[0]);
      }
    }
    // What is left of the cycle goes in at once: each entry into the engine costs as much as a small statement.
    await execute(rest.length === 1 ? rest[0]! : Buffer.concat(rest));
    if (!connection.gone && answers.length > 0) connection.socket.write(Buffer.concat(answers));
    owner = engine.isInTransaction() ? connection : undefined;
  }

  async function work(): Promise<void> {
    // Not before the caller has noted that work is under way.
    await Promise.resolve();
    for (;;) {
      if (owner?.gone) {
        await engine.exec("rollback");
        owner = undefined;
      }
      const cycle = next();
      if (cycle === undefined) break;
      await run(cycle);
    }
    underWay = undefined;
  }

  const wake = (): void => void (underWay ??= work());
  return {
    add(cycle: Cycle): void {
      queue.push(cycle);
      wake();
    },
    /** Drops what a closed connection still wanted, and rolls back what it left open. */
    forget(connection: Connection): void {
      queue = queue.filter((cycle) => cycle.connection !== connection);
      if (owner === connection) wake();
    },
    async idle(): Promise<void> {
      await underWay;
    },
  };
}
