/** Commands at a gateway that stops in the middle of its answer. */
import { expect, it } from "vitest";
import { tollgateHere } from "../support/command.ts";
import { startRecorder } from "../support/recorder.ts";

it.each([
  [["usage", "--csv"], "text/csv", "a,b\n1,2\n"],
  [["keys", "list", "--json"], "application/json", ""],
])(
  "%s reports an answer that breaks off in one line, and exits with 1",
  async (words, type, printed) => {
    const gateway = await startRecorder((_request, response) => {
      response.writeHead(200, { "content-type": type });
      response.write("a,b\n1,2\n", () => setImmediate(() => response.socket!.destroy()));
    });
    const environment = { TOLLGATE_ADMIN_TOKEN: "token" };
    const { code, stdout, stderr } = await tollgateHere(
      [...words, "--url", gateway.url],
      environment,
    );
    await gateway.close();
    expect(stderr).toMatch(/^tollgate: the answer of http:\S+ broke off: .+\. Run it again\n$/);
    expect({ code, stdout }).toEqual({ code: 1, stdout: printed });
  },
);
