/** Limits the connections to providers: each is an open file, and the process may have only a limited number. */
import type { buildConnector } from "undici";
import { Slots } from "../base/slots.ts";

/** Room for the connections to one origin. */
export interface Room {
  /** Reserves room for one more connection, and closes an idle one of any origin if necessary; false if there is none. */
  take(): boolean;
  give(): void;
}

export interface RoomOptions {
  /** The slots that connections take; unlimited if absent. */
  readonly slots?: Slots | undefined;
  /** An origin that this process serves itself: both ends of a connection are here, so it counts twice. */
  readonly ownOrigin?: string | undefined;
}

/** Returns the room of each origin. `closeIdle` closes one idle connection at once; false if there is none. */
export function createRooms(
  { slots = new Slots(Number.POSITIVE_INFINITY), ownOrigin }: RoomOptions,
  closeIdle: () => boolean,
): (origin: string) => Room {
  return (origin) => {
    const count = origin === ownOrigin ? 2 : 1;
    return {
      take() {
        while (!slots.take(count)) if (!closeIdle()) return false;
        return true;
      },
      give: () => slots.give(count),
    };
  };
}

const message = "the gateway has as many connections open as it may";

/** Returns a connector whose connections take room while they are open. Without room it fails with EMFILE, as the system does. */
export function connectorWithin(
  room: Room,
  connect: buildConnector.connector,
): buildConnector.connector {
  return (options, callback) => {
    if (!room.take()) {
      callback(Object.assign(new Error(message), { code: "EMFILE" }), null);
      return;
    }
    connect(options, (...[error, socket]) => {
      if (error !== null) {
        room.give();
        callback(error, null);
        return;
      }
      socket.once("close", () => room.give());
      callback(null, socket);
    });
  };
}
