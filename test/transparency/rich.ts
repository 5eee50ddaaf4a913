/** Shared by the rich requests of the SDKs. */
import { png } from "../sdk/support.ts";

export const picture = png(8).toString("base64");

/** Makes one call of an SDK to a base address, the upstream's or the gateway's. */
export type Send = (url: string, key: string, model: string, stream: boolean) => Promise<unknown>;

export async function drain(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream) continue;
}

export const person = {
  type: "object",
  properties: {
    name: { type: "string" },
    age: { type: "integer" },
    tags: { type: "array", items: { type: "string" } },
  },
  required: ["name", "age", "tags"],
  additionalProperties: false,
};
