/** How a client reaches an embedded server. */
import type { Place } from "./data-lock.ts";
import { reachSocket } from "./directory.ts";

/** What PostgreSQL's driver takes. */
export interface Address {
  /** The directory of the server's socket, or an address. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  readonly password: string;
  readonly ssl: false;
}

/** An address that is valid until `close`. */
export interface Reached {
  readonly address: Address;
  close(): void;
}

/** The address of the server at a place of this machine. */
export function reach({ host, port, password }: Place): Reached {
  const socket = password === undefined ? reachSocket(host) : undefined;
  return {
    address: {
      host: socket?.path ?? host,
      port,
      user: "postgres",
      database: "postgres",
      // Never asked for at a socket; without one the driver would look for another.
      password: password ?? "unused",
      ssl: false,
    },
    close: () => socket?.close(),
  };
}
