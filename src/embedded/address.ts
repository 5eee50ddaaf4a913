/** Connection settings with which a client reaches an embedded server. */
import type { ServerLocation } from "./data-lock.ts";
import { openSocketPath } from "./directory.ts";

/** Connection settings of the PostgreSQL driver. */
export interface Address {
  /** The directory of the server's socket, or an IP address. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  readonly password: string;
  readonly ssl: false;
}

/** An address that is valid until `close` is called. */
export interface OpenAddress {
  readonly address: Address;
  close(): void;
}

/** Returns the address of a server on this machine. */
export function openAddress({ host, port, password }: ServerLocation): OpenAddress {
  const socket = password === undefined ? openSocketPath(host) : undefined;
  return {
    address: {
      host: socket?.path ?? host,
      port,
      user: "postgres",
      database: "postgres",
      // The server asks for no password on a socket. If none is given here, the driver looks for one elsewhere.
      password: password ?? "unused",
      ssl: false,
    },
    close: () => socket?.close(),
  };
}
