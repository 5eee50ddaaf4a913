/** What the connections of both clients to one origin go by. */

import type { Room } from "./room.ts";

export interface OriginRules {
  /** Such as `https://api.example.com`. */
  readonly origin: string;
  /** Connections go to public addresses only. */
  readonly guarded: boolean;
  /** For the handshakes of TCP and TLS together. */
  readonly connectMs: number;
  /** What each of its connections takes while it is open. */
  readonly room: Room;
  /** How long a connection must have been silent before it is used again. */
  readonly quietMs: number;
  /** Whether connections must not be used again now. */
  isSuspect(): boolean;
  /** Called when bytes came after an answer: closes the idle connections of the origin, whichever client they are of. */
  surplus(): void;
}
