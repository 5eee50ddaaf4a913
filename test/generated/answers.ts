/** Random answers as vendors write them, whole and as streams, in any order and with the habits of real vendors. */
import { formatSse } from "../../src/base/sse.ts";
import type { UpstreamProtocol } from "../../src/protocols/index.ts";
import { chat, responses } from "./openai-vendors.ts";
import { converse, generateContent, messages } from "./other-vendors.ts";
import type { Plan, Vendor } from "./plan.ts";

const vendors: Readonly<Record<UpstreamProtocol, Vendor>> = {
  chat,
  responses,
  messages,
  generate_content: generateContent,
  converse,
};

/** The whole answer, as JSON text. */
export const wholeOf = (protocol: UpstreamProtocol, plan: Plan): string =>
  JSON.stringify(vendors[protocol].whole(plan));

/** The stream of the answer. */
export const streamOf = (protocol: UpstreamProtocol, plan: Plan): string =>
  vendors[protocol].stream(plan).map(formatSse).join("");
