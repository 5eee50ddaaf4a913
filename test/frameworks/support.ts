/**
 * One gateway on the sandbox for recorded requests of application frameworks (docs/clients.md "Frameworks"). Each body is the
 * framework's own, byte for byte, except the model's name and the prompt.
 */
import { afterAll, beforeAll } from "vitest";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";

/** A model of each protocol, so that every body is converted to three of them and is direct to one. */
export const models = [
  "sandbox/chat",
  "sandbox/responses",
  "sandbox/messages",
  "sandbox/generate-content",
] as const;

/** Replaces `MODEL` and `PROMPT` in a recorded body; `PROMPT` is within a JSON string. */
const filled = (text: string, model: string, prompt: string): string =>
  text.replaceAll("MODEL", model).replaceAll("PROMPT", JSON.stringify(prompt).slice(1, -1));

interface Sent {
  readonly path: string;
  readonly body: string;
}

export interface Frameworks {
  /** Sends one request of a framework. */
  readonly send: (sent: Sent, model: string, prompt: string) => Promise<Response>;
}

export function useFrameworks(): Frameworks {
  let gateway: GatewayUnderTest;
  beforeAll(async () => {
    gateway = await startTestGateway();
  });
  afterAll(() => gateway.close());
  return {
    send: ({ path, body }, model, prompt) =>
      fetch(gateway.url + filled(path, model, ""), {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
        body: filled(body, model, prompt),
      }),
  };
}

/** A prompt with a script for the sandbox. */
export const scripted = (script: object): string => `Hi\n#sandbox ${JSON.stringify(script)}`;
