/** A store that limits the number of open files: each waits for its reader, and holds a descriptor meanwhile. */
import { overloaded } from "../base/errors.ts";
import type { Slots } from "../base/slots.ts";
import type { FileStore } from "./store.ts";

/** Wraps `store`: each open file takes one of `slots`. `open` and `size` throw GatewayError `overloaded` if none is left. */
export function countOpenFiles(store: FileStore, slots: Slots): FileStore {
  const take = (): void => {
    if (!slots.take())
      throw overloaded("The gateway has reached its limit of open files. Retry in a moment.");
  };
  return {
    ...store,
    async size(name) {
      take();
      try {
        return await store.size(name);
      } finally {
        slots.give();
      }
    },
    async open(name, range) {
      take();
      try {
        const file = await store.open(name, range);
        if (file === undefined) slots.give();
        else file.stream.once("close", () => slots.give());
        return file;
      } catch (error) {
        slots.give();
        throw error;
      }
    },
  };
}
