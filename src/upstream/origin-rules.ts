/** The rules for both clients' connections to one origin. */

import type { DialRoute } from "./dial/dial-route.ts";
import type { Room } from "./room.ts";

export interface OriginRules {
  /** Such as `https://api.example.com`. */
  readonly origin: string;
  /** Directly if absent. */
  readonly dialRoute?: DialRoute | undefined;
  /** Timeout of the handshakes of proxy, TCP and TLS together, in ms. */
  readonly connectMs: number;
  /** The room that each open connection takes. */
  readonly room: Room;
  /** Milliseconds of silence before a connection is reused. */
  readonly quietMs: number;
  /** True if connections must not be reused now. */
  isSuspect(): boolean;
  /** Called when bytes arrived after an answer: closes the idle connections of both clients to the origin. */
  surplus(): void;
}
