/** What the connections of both clients to one origin go by. */

import type { Way } from "./dial/way.ts";
import type { Room } from "./room.ts";

export interface OriginRules {
  /** Such as `https://api.example.com`. */
  readonly origin: string;
  /** Directly if absent. */
  readonly way?: Way | undefined;
  /** For the handshakes of proxy, TCP and TLS together. */
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
