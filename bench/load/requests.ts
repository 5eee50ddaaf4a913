/** The bytes of a scenario's requests to a subject. */
import { bodyOf } from "../bodies.ts";
import type { Scenario } from "../scenarios.ts";
import type { Subject } from "../subjects/types.ts";
import type { LoadTarget } from "./drive.ts";

/** Larger bodies are kept once and written after each head. */
const joinedBytesMax = 16_384;

/** Undefined if the subject does not support these calls. */
export function targetOf(subject: Subject, scenario: Scenario): LoadTarget | undefined {
  const route = subject.route(scenario);
  if (route === undefined) return undefined;
  const body = Buffer.from(bodyOf(scenario, route.model));
  const requests = route.headers.map((headers) => {
    const lines = Object.entries({
      host: "bench",
      "content-type": "application/json",
      ...headers,
      ...(scenario.fresh && { connection: "close" }),
      "content-length": String(body.length),
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    const head = Buffer.from(`POST ${route.path} HTTP/1.1\r\n${lines.join("")}\r\n`);
    return body.length > joinedBytesMax ? [head, body] : [Buffer.concat([head, body])];
  });
  const streamed = scenario.answer !== "whole";
  return { url: subject.url, requests, streamed, fresh: scenario.fresh === true };
}
