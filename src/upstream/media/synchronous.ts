/** The half of a dialect whose vendor answers with the result: it has no jobs to ask after. */
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
