// A gateway that leaves its load balancer begins no new steps of tasks: a step without a vendor's answer at the end would be
// lost. docs/operate.md.
import { expect, it, vi } from "vitest";
import { startRecorder } from "../support/recorder.ts";
import { startTestGateway } from "../support/gateway.ts";
import { pixel } from "../support/pixel.ts";

const configurationAt = (url: string): string => `
providers:
  - { id: xai, dialect: xai, base_url: "${url}/v1", api_key: secret }
models:
  - id: acme/pictures
    kind: image
    family: task-image-1
    offers:
      - provider: xai
        upstream_model: m
        price: { output_image: { low: { 1K: "0.01", 2K: "0.02" }, medium: { 1K: "0.03", 2K: "0.04" } }, input_image: "0.001" }
`;

const videosAt = (url: string): string => `
providers:
  - { id: xai, dialect: xai, base_url: "${url}/v1", api_key: secret }
models:
  - id: acme/videos
    kind: video
    family: video-v1
    offers:
      - provider: xai
        upstream_model: m
        price: { output_second: { 480p: "0.05", 720p: "0.07" }, input_image: "0.002" }
`;

it("a gateway that leaves its load balancer finishes its running steps, and leaves new tasks to other gateways", async () => {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const painter = await startRecorder(async (_request, response) => {
    asked.resolve();
    await answer.promise;
    response.end(JSON.stringify({ data: [{ b64_json: pixel }] }));
  });
  const gateway = await startTestGateway({
    config: configurationAt(painter.url),
    tasks: { timing: { sweepMs: 50 } },
  });
  await gateway.credit("10");
  const submit = (headers: Record<string, string> = {}) =>
    gateway.post("/v1/tasks", { model: "acme/pictures", prompt: "A boat" }, headers);
  const waiting = submit({ prefer: "wait=60" });
  await asked.promise;
  const closed = gateway.close({ leaveMs: 1_500 });
  const later = await submit();
  expect(later.status).toBe(202);
  answer.resolve();
  expect(await (await waiting).json()).toMatchObject({ status: "succeeded" });
  await closed;
  expect(painter.requests).toHaveLength(1);
  await painter.close();
});

it("TASK-17: a caller with `Prefer: wait` gets the running task before a stopping gateway cuts calls", async () => {
  const vendor = await startRecorder((request, response) => {
    if (request.method === "POST") response.end(JSON.stringify({ request_id: "job" }));
    else response.writeHead(202).end();
  });
  const gateway = await startTestGateway({ config: videosAt(vendor.url), stopMs: 2_500 });
  await gateway.credit("10");
  const waiting = gateway.post(
    "/v1/tasks",
    { model: "acme/videos", prompt: "A boat" },
    { prefer: "wait=60" },
  );
  await vi.waitFor(
    () => expect(vendor.requests.map(({ method }) => method)).toContain("GET"),
    5_000,
  );
  await gateway.close();
  const answer = await waiting;
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({ status: "running", cost: "0" });
  await vendor.close();
});
