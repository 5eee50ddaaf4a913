/** Vendors that fail, lie, hang and flood, and the link to them. */
import type { Traffic } from "../traffic.ts";
import { link, faultMs, type Fault } from "./fault.ts";

/** A fault that lasts while the vendors simulate `troubles`. */
const vendors =
  (troubles: Traffic["troubles"]): Fault["inject"] =>
  async (_world, traffic) => {
    traffic.troubles = troubles;
    await traffic.lasts(faultMs);
    traffic.troubles = {};
  };

export const vendorFaults: readonly Fault[] = [
  {
    name: "one of two vendors answers 500",
    part: "vendors",
    noneFails: true,
    inject: vendors({ call: { status: 500, only: ["chat"] } }),
  },
  {
    name: "both vendors answer 500",
    part: "vendors",
    inject: vendors({ call: { status: 500 } }),
  },
  {
    name: "one of two vendors answers 429 with Retry-After",
    part: "vendors",
    noneFails: true,
    inject: vendors({ call: { status: 429, retry_after: 2, only: ["chat"] } }),
  },
  {
    name: "one of two vendors never answers",
    part: "vendors",
    noneFails: true,
    inject: vendors({ call: { hang: true, only: ["chat"] } }),
  },
  {
    name: "vendors stop sending in the middle of an answer",
    part: "vendors",
    inject: vendors({ call: { hang_after_chunks: 1, chunk_chars: 4 } }),
  },
  {
    name: "vendors cut their answers",
    part: "vendors",
    inject: vendors({ call: { cut_after_chunks: 1, chunk_chars: 4 } }),
  },
  {
    name: "vendors omit the end of a stream",
    part: "vendors",
    inject: vendors({ call: { no_end_marker: true } }),
  },
  {
    name: "vendors answer broken JSON",
    part: "vendors",
    inject: vendors({ call: { malformed: "json" } }),
  },
  {
    name: "vendors answer a page of HTML",
    part: "vendors",
    inject: vendors({ call: { malformed: "html" } }),
  },
  {
    name: "vendors send half frames of 3 bytes",
    part: "vendors",
    noneFails: true,
    inject: vendors({ call: { sse_cut_bytes: 3, only: ["chat", "messages"] } }),
  },
  {
    name: "vendors flood answers with 2 MB",
    part: "vendors",
    inject: vendors({ call: { flood: 2_000_000, only: ["chat", "messages"] } }),
  },
  {
    name: "vendors cannot be reached",
    part: "vendors",
    // The vendor is polled three times within three seconds, and this fault lasts longer.
    tasksFail: "upstream_error",
    inject: link("vendors", (one) => one.cut()),
  },
  {
    name: "the link to vendors swallows all bytes for a while",
    part: "vendors",
    inject: link("vendors", (one) => one.hold()),
  },
  {
    name: "vendors are 400 ms away",
    part: "vendors",
    noneFails: true,
    inject: link("vendors", (one) => one.slow(200)),
  },
  {
    name: "vendors fail when asked for a task's state",
    part: "vendors",
    noneFails: true,
    inject: vendors({ task: { poll: { status: 500, times: 2 } } }),
  },
  {
    name: "downloads of results are cut",
    part: "vendors",
    noneFails: true,
    inject: vendors({ task: { artifact: { cut_after_bytes: 200, times: 1 } } }),
  },
  {
    name: "vendors forget tasks",
    part: "vendors",
    tasksFail: true,
    inject: vendors({ task: { task_outcome: "vanished" } }),
  },
];
