/** `tollgate credits` at a gateway that becomes unreachable: a retry must not count twice. */
import { expect, it } from "vitest";
import { tollgateHere } from "../support/command.ts";
import { startRecorder, type Answer } from "../support/recorder.ts";

const workspaces = { data: [{ id: "ws_1", name: "main" }], next_cursor: null };

/** Adds credit at a gateway with this answer; returns the command's output and the reference that it sent. */
async function addAt(answer: Answer) {
  const gateway = await startRecorder((request, response) => {
    if (request.path.endsWith("/workspaces")) response.end(JSON.stringify(workspaces));
    else return answer(request, response);
  });
  const words = ["credits", "add", "25", "--url", gateway.url];
  const result = await tollgateHere(words, { TOLLGATE_ADMIN_TOKEN: "token" });
  const sent = gateway.requests.find(({ method }) => method === "POST");
  await gateway.close();
  return { ...result, reference: String(sent?.headers["idempotency-key"]) };
}

it.each<[string, Answer]>([
  ["before it answers", (_request, response) => void response.socket!.destroy()],
  [
    "before the balance is read",
    ({ method }, response) =>
      void (method === "POST" ? response.end("{}") : response.socket!.destroy()),
  ],
  ["with 503", (_request, response) => void response.writeHead(503).end("{}")],
])(
  "BILL-01: if the gateway breaks off %s, the command says how to repeat it so that it counts once",
  async (_when, answer) => {
    const { code, stderr, reference } = await addAt(answer);
    expect(code).toBe(1);
    expect(stderr).toContain(`repeat it with --reference ${reference}, and it counts once.`);
  },
);

it("BILL-01: a refused credit prints only the error, without a reference", async () => {
  const error = { message: "The amount is too large." };
  const { stderr } = await addAt(
    (_request, response) => void response.writeHead(400).end(JSON.stringify({ error })),
  );
  expect(stderr).toBe("tollgate: The amount is too large.\n");
});
