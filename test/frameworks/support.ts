/**
 * One gateway on the sandbox for what application frameworks really sent (docs/clients.md "Frameworks"): each body here is the
 * framework's own, byte for byte, but for the name of the model and the prompt.
 */
import { afterAll, beforeAll } from "vitest";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";

/** A model of each protocol, so that every body is converted to three of them and goes directly to one. */
export const models = [
  "sandbox/chat",
  "sandbox/responses",
  "sandbox/messages",
  "sandbox/generate-content",
] as const;

/** Puts model and prompt into what was sent: `MODEL` and `PROMPT` stand for them, the latter within a JSON string. */
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
