// Models of images and videos that offer only some entry points of their family.
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";

const config = `
providers: [{ id: films, dialect: xai, base_url: "http://127.0.0.1:9", api_key: k }]
models:
  - { id: acme/clip, kind: video, family: video-v1, endpoints: [tasks],
      offers: [{ provider: films, upstream_model: v, price: { output_second: { 480p: "0.05", 720p: "0.07" }, input_image: "0.01" } }] }
`;

let gateway: GatewayUnderTest;
beforeAll(async () => {
  gateway = await startTestGateway({ config });
});
afterAll(() => gateway.close());

it("TXT-12 TXT-13: a video model is listed and called only through its configured entry points", async () => {
  const { data } = (await (await gateway.get("/v1/models")).json()) as {
    data: { id: string; endpoints: string[] }[];
  };
  expect(data).toMatchObject([{ id: "acme/clip", endpoints: ["tasks"] }]);
  const body = { model: "acme/clip", prompt: "A boat" };
  const codeAt = async (path: string) => {
    const { error } = (await (await gateway.post(path, body)).json()) as {
      error: { code: string };
    };
    return error.code;
  };
  // The workspace has no credit, so this code shows that the call passed the earlier checks.
  expect(await codeAt("/v1/videos/generations")).toBe("unsupported_protocol");
  expect(await codeAt("/v1/tasks")).toBe("insufficient_balance");
});
