/** The health endpoints in the OpenAPI document. They need no key. */
import { Type } from "../../base/json-schema.ts";
import { oneOf } from "../shapes/schema.ts";
import { jsonContent, type Part } from "./document.ts";

const about = { tags: ["Operation"], security: [] } as const;

export const health: Part = {
  paths: {
    "/healthz": {
      get: {
        ...about,
        operationId: "getHealth",
        summary: "Liveness",
        description: "For liveness probes. Checks only that the process answers.",
        responses: { 200: { description: "It runs.", content: jsonContent("Health") } },
      },
    },
    "/readyz": {
      get: {
        ...about,
        operationId: "getReadiness",
        summary: "Readiness",
        description: "For readiness probes and load balancers.",
        responses: {
          200: { description: "Ready.", content: jsonContent("Readiness") },
          503: {
            description: "Starting, stopping, or without its database.",
            content: jsonContent("Readiness"),
          },
        },
      },
    },
    "/metrics": {
      get: {
        ...about,
        operationId: "getMetrics",
        summary: "Metrics for Prometheus",
        description:
          "Calls, durations, tokens and cost, by model and provider. For programs on the gateway's own machine, or with `TOLLGATE_METRICS_TOKEN` as a bearer token. With `TOLLGATE_METRICS_PORT` metrics are on that port instead.",
        responses: {
          401: {
            description: "A token is required, and this is not it.",
            content: jsonContent("Error"),
          },
          403: {
            description: "The request comes from another machine, or through a proxy.",
            content: jsonContent("Error"),
          },
          200: {
            description: "The Prometheus text format.",
            content: { "text/plain": { schema: Type.String() } },
          },
        },
      },
    },
  },
  schemas: {
    Health: Type.Object({ status: Type.Literal("ok") }),
    Readiness: Type.Object({
      status: oneOf("ready", "not_ready"),
      database: oneOf("ok", "read_only", "down"),
    }),
  },
};
