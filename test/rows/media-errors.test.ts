/** Errors about a video's input material, and the vendor's own refusals. ERR rows. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";

let gateway: GatewayUnderTest;
beforeAll(async () => {
  gateway = await startTestGateway({ tasks: { timing: { firstPollMs: 30 } } });
});
afterAll(() => gateway.close());

const model = "sandbox/video-model-v1";
const frame = { url: "https://example.com/frame.png" };

it.each([
  ["reference_images with image", { image: frame, reference_images: [frame] }],
  ["last_frame without image", { last_frame: frame }],
  [
    "reference_images with last_frame",
    { image: frame, last_frame: frame, reference_images: [frame] },
  ],
])("ERR-06: %s is 400 on both paths, and costs nothing", async (_name, material) => {
  for (const path of ["/v1/tasks", "/v1/videos/generations"]) {
    const answer = await gateway.post(path, { model, prompt: "a lighthouse", ...material });
    const { error } = (await answer.json()) as { error: { type: string; param: string } };
    expect([path, answer.status, error.type]).toEqual([path, 400, "invalid_request_error"]);
    expect(error.param).toMatch(/image|frame/);
  }
  expect((await gateway.ledger.balance(gateway.workspaceId)).heldNano).toBe(0n);
});

it("ERR-04: an argument that the vendor refuses is `invalid_argument` in the native format", async () => {
  const script = { status: 400, error: { code: "invalid_argument", message: "Too blue." } };
  const created = await gateway.post("/v1/videos/generations", {
    model,
    prompt: `a lighthouse\n#sandbox ${JSON.stringify(script)}`,
  });
  const { request_id: id } = (await created.json()) as { request_id: string };
  const read = async () => (await gateway.get(`/v1/videos/${id}`)).json() as Promise<object>;
  await expect.poll(read).toMatchObject({ status: "failed" });
  const message = expect.stringContaining("Too blue.") as string;
  expect(await read()).toMatchObject({ error: { code: "invalid_argument", message } });
});
