/** The recorded runs of agents under cases/, and the models to which the tests resend them. */
import { readFileSync } from "node:fs";
import type { ProtocolName } from "../../src/protocols/canonical/request.ts";

export interface AgentCase {
  readonly client: string;
  readonly protocol: ProtocolName;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The fields that all requests of the run share, in their order; fields that differ are null here. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly steps: readonly Readonly<Record<string, unknown>>[];
}

export const models: Readonly<Record<ProtocolName, string>> = {
  chat: "sandbox/chat",
  responses: "sandbox/responses",
  messages: "sandbox/messages",
  generate_content: "sandbox/generate-content",
};

export const readCase = (name: string): AgentCase =>
  JSON.parse(readFileSync(new URL(`cases/${name}.json`, import.meta.url), "utf8")) as AgentCase;
