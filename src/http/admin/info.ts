/** Facts about the gateway for every signed-in user: its public address, version and settings. */
import { Type } from "../../base/json-schema.ts";
import { version } from "../../base/own-files.ts";
import { timestamp } from "../shapes/schema.ts";
import { route } from "./route.ts";

const read = route({
  method: "GET",
  path: "/info",
  operationId: "getInfo",
  summary: "The gateway's address and version",
  action: null,
  answer: {
    name: "Info",
    schema: Type.Object({
      object: Type.Literal("gateway"),
      version: Type.String(),
      public_url: Type.String({
        description: "The address for callers (TOLLGATE_PUBLIC_URL), without a slash at the end.",
      }),
      sandbox: Type.Boolean({ description: "The simulated vendors are among the providers." }),
      usage_tags: Type.Array(Type.String(), {
        description: "Names of tags by which usage is summed: `tags.usage` of the configuration.",
      }),
      server_time: timestamp("The database's clock, which all gateways use."),
    }),
  },
  handle({ services }) {
    const providers = [...services.catalog().providers.keys()];
    return Promise.resolve({
      body: {
        object: "gateway",
        version,
        public_url: services.publicUrl().replace(/\/+$/, ""),
        sandbox: providers.some((id) => id.startsWith("sandbox-")),
        usage_tags: [...services.usageTags],
        server_time: new Date(services.clock.now()).toISOString(),
      },
    });
  },
});

export const infoRoutes = [read];
