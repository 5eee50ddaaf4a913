/** The common part of dialects whose vendor answers with the result: there are no jobs to poll. */
import type { MediaDialect } from "./types.ts";

export const synchronous: Pick<MediaDialect, "synchronous" | "poll" | "readPoll" | "pollSeconds"> =
  {
    synchronous: true,
    pollSeconds: 0,
    poll: () => {
      throw new Error("a vendor that answers at once has no job to ask after");
    },
    readPoll: () => ({ state: "missing" }),
  };
