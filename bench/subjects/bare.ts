/** The bare proxy as a subject. */
import { fileURLToPath } from "node:url";
import { startProcess } from "./process.ts";
import { endpointPaths, type Candidate } from "./types.ts";

const program = fileURLToPath(new URL("./bare-proxy.ts", import.meta.url));

export const bareProxy: Candidate = {
  name: "bare proxy",
  async start({ upstreamUrl }) {
    const { pid, output, stop } = await startProcess([program, upstreamUrl], {
      ready: /http:\/\/\S+/,
    });
    return {
      name: "bare proxy",
      url: output.trim(),
      pid,
      // The proxy forwards the path, which selects the form of the upstream's answer.
      route: ({ endpoint, answer }) => ({
        path: `/${answer}/v1${endpointPaths[endpoint]}`,
        model: "bench-large",
        headers: [{}],
      }),
      close: stop,
    };
  },
};
