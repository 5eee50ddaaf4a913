import { describe, expect, it } from "vitest";
import { routingScope, type Caller, type ScopeLayer } from "../../src/tenancy/index.ts";
import { followRouting, type RoutingSettings } from "../../src/tenancy/routing-settings.ts";

const layer = (
  routing: Partial<RoutingSettings> = {},
  modelAllowlist: string[] = [],
): ScopeLayer => ({
  modelAllowlist,
  routing: { ...followRouting, ...routing },
});

const caller = (layers: Partial<Caller>): Caller => ({
  keyRotation: 0,
  keyId: "key_1",
  workspaceId: "ws_1",
  organizationId: "org_1",
  memberId: null,
  expiresAt: null,
  limits: [],
  responseCache: null,
  keepBodies: "off",
  allowRequestOverride: false,
  organization: layer(),
  workspace: layer(),
  key: layer(),
  ...layers,
});

const open = {
  modelAllowlists: [],
  supplyTiers: [],
  pinnedProviders: [],
  preferredProviders: [],
  sort: null,
  locked: false,
};

const official: Partial<RoutingSettings> = { mode: "custom", supplyTiers: ["official"] };

describe("the scope of a caller", () => {
  it.each<[string, Partial<Caller>, object]>([
    ["nothing set", {}, {}],
    ["a personal workspace", { organization: null }, {}],
    [
      "the allowlists of all layers stand side by side, empty ones left out",
      { organization: layer({}, ["a/x", "a/y"]), key: layer({}, ["a/y", "b/z"]) },
      {
        modelAllowlists: [
          ["a/x", "a/y"],
          ["a/y", "b/z"],
        ],
      },
    ],
    [
      "a key that follows takes the workspace's routing",
      {
        workspace: layer({ mode: "custom", sort: "price", pinnedProviders: ["p"] }),
        key: layer({ mode: "follow", sort: "latency", pinnedProviders: ["q"] }),
      },
      { sort: "price", pinnedProviders: [["p"]] },
    ],
    [
      "a custom key takes its own, and is locked",
      {
        workspace: layer({ mode: "custom", sort: "price", preferredProviders: ["p"] }),
        key: layer({ mode: "custom", sort: "latency", preferredProviders: ["q", "r"] }),
      },
      { sort: "latency", preferredProviders: ["q", "r"], locked: true },
    ],
    [
      "constraints above bind a custom key too",
      {
        organization: layer({ ...official, pinnedProviders: ["p", "q"] }),
        workspace: layer({ mode: "custom", supplyTiers: ["official", "partner"] }),
        key: layer({ mode: "custom", supplyTiers: ["community"], pinnedProviders: ["q"] }),
      },
      {
        supplyTiers: [["official"], ["official", "partner"], ["community"]],
        pinnedProviders: [["p", "q"], ["q"]],
        locked: true,
      },
    ],
    [
      "a custom layer without a preference leaves the one above it in force",
      {
        organization: layer({ mode: "custom", sort: "throughput", preferredProviders: ["p"] }),
        key: layer(official),
      },
      { sort: "throughput", preferredProviders: ["p"], supplyTiers: [["official"]], locked: true },
    ],
    [
      "the allow-request-override option lifts the lock",
      { key: layer(official), allowRequestOverride: true },
      { supplyTiers: [["official"]], locked: false },
    ],
    [
      "custom routing above a following key does not lock it",
      { organization: layer(official), workspace: layer(official) },
      { supplyTiers: [["official"], ["official"]], locked: false },
    ],
  ])("%s", (_name, layers, expected) => {
    expect(routingScope(caller(layers))).toEqual({ ...open, ...expected });
  });
});
