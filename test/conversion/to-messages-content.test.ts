/** Content towards a messages upstream, and content that it does not accept. CONV-417, CONV-418, CONV-424 to CONV-426. */
import { describe, expect, it } from "vitest";
import {
  conversions,
  pictureData,
  pictureDataUrl,
  pictureUrl,
  showCase,
  titled,
  toolsOf,
  user,
  type Body,
  type Case,
  type Name,
} from "./world.ts";

const world = conversions();

const to = "messages";
const asked = (...content: unknown[]): Body => ({ messages: [{ role: "user", content }] });

describe("the content of a request to messages", () => {
  it.each(
    titled([
      {
        title: "CONV-417: pictures are sent as base64 and by URL",
        from: "chat",
        to,
        body: user([
          { type: "image_url", image_url: { url: pictureDataUrl } },
          { type: "image_url", image_url: { url: pictureUrl } },
        ]),
        up: asked(
          { type: "image", source: { type: "base64", media_type: "image/png", data: pictureData } },
          { type: "image", source: { type: "url", url: pictureUrl } },
        ),
      },
      {
        title: "CONV-417: a picture's detail is dropped and reported",
        from: "responses",
        to,
        body: {
          input: [
            {
              role: "user",
              content: [{ type: "input_image", image_url: pictureUrl, detail: "low" }],
            },
          ],
        },
        up: asked({ type: "image", source: { type: "url", url: pictureUrl } }),
        reported: ["input.content.detail"],
      },
      ...(["chat", "responses", "generate_content"] as const).map((from): Case => ({
        title: "CONV-418: no cache marker is added for other callers",
        from,
        to,
        body: { ...toolsOf[from] },
        nowhere: ["cache_control"],
      })),
    ]),
  )("%s", (_title, one) => showCase(world, one));

  it("CONV-418: keeps a messages caller's cache markers", async () => {
    const cached = { type: "text", text: "Hi", cache_control: { type: "ephemeral", ttl: "1h" } };
    const { up, reported } = await world.send("messages", to, user([cached]));
    expect([up?.["messages"], reported]).toEqual([[{ role: "user", content: [cached] }], []]);
  });
});

const refused: readonly (readonly [title: string, Name, Body])[] = [
  [
    "CONV-424: sound",
    "chat",
    user([{ type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } }]),
  ],
  [
    "CONV-424: sound",
    "generate_content",
    { contents: [{ parts: [{ inlineData: { mimeType: "audio/wav", data: "UklGRg==" } }] }] },
  ],
  [
    "CONV-425: video",
    "generate_content",
    { contents: [{ parts: [{ inlineData: { mimeType: "video/mp4", data: "AAAA" } }] }] },
  ],
  [
    "CONV-425: video by address",
    "generate_content",
    { contents: [{ parts: [{ fileData: { mimeType: "video/mp4", fileUri: "gs://a/b.mp4" } }] }] },
  ],
  [
    "CONV-426 CONV-606: a file",
    "chat",
    user([
      {
        type: "file",
        file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERg==" },
      },
    ]),
  ],
  [
    "CONV-426 CONV-606: a file",
    "responses",
    {
      input: [
        {
          role: "user",
          content: [{ type: "input_file", file_url: "https://papers.example/a.pdf" }],
        },
      ],
    },
  ],
  [
    "CONV-426 CONV-606: a PDF",
    "generate_content",
    { contents: [{ parts: [{ inlineData: { mimeType: "application/pdf", data: "JVBERg==" } }] }] },
  ],
];

describe("content that makes a request to messages fail", () => {
  it.each(refused)(
    "%s (%s): no vendor is called and nothing is charged",
    async (_title, from, body) => {
      const { ledger, workspaceId } = world.gateway();
      const { chargedNano } = await ledger.balance(workspaceId);
      const { status, answer, up } = await world.send(from, to, body);
      expect([status, up]).toEqual([400, undefined]);
      expect(JSON.stringify(answer)).toMatch(
        /cannot be converted for this model's provider: (audio|video|file) content\./,
      );
      expect((await ledger.balance(workspaceId)).chargedNano).toBe(chargedNano);
    },
  );
});
