/**
 * The texts of a user's turn towards chat go as one string, which every upstream accepts. Some refuse lists of texts: Sarvam, and models at
 * NVIDIA ("sequence item 0: expected str instance, list found"). Claude Code sends several texts in most turns. CONV-601.
 */
import { expect, it } from "vitest";
import { routeOf } from "./route.ts";
import { byName, type Body } from "./world.ts";

const picture = "iVBORw0KGgo=";
const url = `data:image/png;base64,${picture}`;
const image = { type: "image", source: { type: "base64", media_type: "image/png", data: picture } };
const text = (value: string) => ({ type: "text", text: value });
const input = (value: string) => ({ type: "input_text", text: value });
const inGoogle = (...parts: object[]) => ({ contents: [{ role: "user", parts }] });
const inMessages = (...content: object[]) => ({ messages: [{ role: "user", content }] });

const both = "<system-reminder>\n\nHi";

it.each([
  ["messages", "two texts", inMessages(text("<system-reminder>"), text("Hi")), both],
  [
    "messages",
    "a marker, which has no place in chat",
    inMessages(text("<system-reminder>"), { ...text("Hi"), cache_control: { type: "ephemeral" } }),
    both,
  ],
  [
    "messages",
    "two turns",
    {
      messages: [
        { role: "user", content: "<system-reminder>" },
        { role: "user", content: "Hi" },
      ],
    },
    both,
  ],
  [
    "messages",
    "a document of text",
    inMessages(
      { type: "document", source: { type: "text", media_type: "text/plain", data: "Red." } },
      text("Hi"),
    ),
    "<document>\nRed.\n</document>\n\nHi",
  ],
  [
    "responses",
    "two texts",
    { input: [{ role: "user", content: [input("<system-reminder>"), input("Hi")] }] },
    both,
  ],
  [
    "responses",
    "two turns",
    {
      input: [
        { role: "user", content: "<system-reminder>" },
        { role: "user", content: "Hi" },
      ],
    },
    both,
  ],
  ["generate_content", "two texts", inGoogle({ text: "<system-reminder>" }, { text: "Hi" }), both],
  ["messages", "one text", inMessages(text("Hi")), "Hi"],
  [
    "messages",
    "texts around a picture, which stay apart",
    inMessages(text("<system-reminder>"), image, text("Hi")),
    [text("<system-reminder>"), { type: "image_url", image_url: { url } }, text("Hi")],
  ],
] as const)("CONV-601: a user's turn from %s to chat: %s", (from, _, fields, expected) => {
  const body: Body = { ...byName[from].body("acme/x", false), ...fields };
  const { body: sent } = routeOf(from, "chat", body, {});
  expect((sent["messages"] as Body[]).at(-1)).toEqual({ role: "user", content: expected });
});
