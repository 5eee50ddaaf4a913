/** Room for connections to providers: each is an open file, of which the process may have only so many. */
import type { buildConnector } from "undici";
import { Slots } from "../base/slots.ts";

/** Room for the connections to one origin. */
export interface Room {
  /** Takes room for one more, closing an idle connection of any origin if need be; false where there is none. */
  take(): boolean;
  give(): void;
}

export interface RoomOptions {
  /** What connections count in; without limit if absent. */
  readonly slots?: Slots | undefined;
  /** An origin that this process serves itself: a connection to it has both of its ends here, and counts twice. */
  readonly ownOrigin?: string | undefined;
}

/** The room of each origin. `closeIdle` closes one idle connection at once; false where there is none. */
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

/** A connector whose connections take room while they are open. Without room it fails as the system does. */
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
