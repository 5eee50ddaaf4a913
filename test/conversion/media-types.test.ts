/** `image/jpg`, which clients write and vendors refuse, reaches every upstream as `image/jpeg`. CONV-216, CONV-315, CONV-417, CONV-517. */
import { describe, it } from "vitest";
import {
  conversions,
  convertedPairs,
  pictureData,
  showCase,
  titled,
  user,
  type Body,
  type Case,
  type Name,
} from "./world.ts";

const world = conversions();

const content = (parts: readonly Body[]): Body => ({ contents: [{ role: "user", parts }] });
const input = (parts: readonly Body[]): Body => ({ input: [{ role: "user", content: parts }] });

const given: Readonly<Record<Name, Body>> = {
  chat: user([
    { type: "image_url", image_url: { url: `data:image/jpg;base64,${pictureData}` } },
    { type: "image_url", image_url: { url: `data:IMAGE/JPG;base64,${pictureData}` } },
  ]),
  responses: input([
    { type: "input_image", image_url: `data:image/jpg;base64,${pictureData}`, detail: "auto" },
  ]),
  messages: user([
    { type: "image", source: { type: "base64", media_type: "image/jpg", data: pictureData } },
  ]),
  generate_content: content([{ inlineData: { mimeType: "image/jpg", data: pictureData } }]),
};

const jpeg = `data:image/jpeg;base64,${pictureData}`;
const sent = (count: number): Readonly<Record<Name, Body>> => ({
  chat: user(
    Array.from({ length: count }, () => ({ type: "image_url", image_url: { url: jpeg } })),
  ),
  responses: input(
    Array.from({ length: count }, () => ({ type: "input_image", image_url: jpeg, detail: "auto" })),
  ),
  messages: user(
    Array.from({ length: count }, () => ({
      type: "image",
      source: { type: "base64", media_type: "image/jpeg", data: pictureData },
    })),
  ),
  generate_content: content(
    Array.from({ length: count }, () => ({
      inlineData: { mimeType: "image/jpeg", data: pictureData },
    })),
  ),
});

/** The expected content; from responses to chat, it also has the caller's `detail`. */
const detailed = (from: Name, to: Name): Body =>
  from === "responses" && to === "chat"
    ? user([{ type: "image_url", image_url: { url: jpeg, detail: "auto" } }])
    : sent(from === "chat" ? 2 : 1)[to];

describe("image/jpg", () => {
  it.each(
    titled(
      convertedPairs.map(([from, to]): Case => ({
        title: "is sent as image/jpeg without a report",
        from,
        to,
        body: given[from],
        up: detailed(from, to),
        nowhere: ["image/jpg", "IMAGE/JPG"],
      })),
    ),
  )("%s", (_title, one) => showCase(world, one));
});
