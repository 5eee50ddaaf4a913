/**
 * The objects that the Helm chart makes of values. This test renders its templates; deploy.test.ts only reads them.
 * docs/deployment.md "Kubernetes".
 */
import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { openChart } from "../support/chart.ts";

const chart = new URL("../../deploy/helm/tollgate/", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, chart), "utf8");
const names = readdirSync(new URL("templates", chart));

type Values = Readonly<Record<string, unknown>>;
const values = parse(read("values.yaml")) as Record<string, object>;
const given: Values = { ...values, existingSecret: "tollgate" };
const withTls = (more: object = {}): Values => ({
  ...given,
  config: { server: { tls: { cert: "tls.crt", key: "tls.key", ...more } } },
});

const { name, version, appVersion } = parse(read("Chart.yaml")) as Record<string, string>;
const render = openChart(Object.fromEntries(names.map((one) => [one, read(`templates/${one}`)])), {
  Release: { Name: "gateway", Namespace: "default", Service: "Helm" },
  Chart: { Name: name, Version: version, AppVersion: appVersion },
});
/** The objects that one template renders. */
const objectsOf = <Made = { readonly kind: string }>(template: string, all: Values): Made[] =>
  parseAllDocuments(render(template, all))
    .map((document) => document.toJS() as Made | null)
    .filter((made) => made !== null);

interface Deployment {
  readonly spec: { template: { spec: { containers: [Readonly<Record<string, unknown>>] } } };
}
interface Service {
  readonly spec: { readonly ports: readonly unknown[] };
}

function probesOf(all: Values): unknown[] {
  const [made] = objectsOf<Deployment>("deployment.yaml", all);
  const [gateway] = made!.spec.template.spec.containers;
  return ["startupProbe", "livenessProbe", "readinessProbe"].map((probe) => gateway[probe]);
}
const portOf = (all: Values): unknown => objectsOf<Service>("service.yaml", all)[0]!.spec.ports[0];

it("the chart makes the expected objects, with default values and with everything enabled", () => {
  const everything = {
    ...withTls(),
    publicUrl: "https://gateway.test",
    metrics: { ...values["metrics"], serviceMonitor: true, labels: { release: "prometheus" } },
    ingress: { ...values["ingress"], enabled: true, host: "gateway.test", tlsSecret: "gateway" },
    autoscaling: { ...values["autoscaling"], enabled: true },
    env: [{ name: "HTTPS_PROXY", value: "http://proxy:3128" }],
  };
  const kindsOf = (all: Values): string[] =>
    names
      .filter((one) => one.endsWith(".yaml"))
      .flatMap((one) => objectsOf(one, all).map(({ kind }) => kind))
      .sort();
  const always = ["Deployment", "PodDisruptionBudget", "Service", "Service", "ServiceAccount"];
  expect(kindsOf(given)).toEqual(always);
  const more = ["ConfigMap", "HorizontalPodAutoscaler", "Ingress", "ServiceMonitor"];
  expect(kindsOf(everything)).toEqual([...always, ...more].sort());
  expect(render("NOTES.txt", everything)).toContain("backend-protocol: HTTPS");
  expect(render("NOTES.txt", given)).not.toContain("backend-protocol");
  expect(() => render("deployment.yaml", values)).toThrow("existingSecret names a Secret");
});

it("ingress-nginx gets the limits of deploy/nginx: by default it refuses bodies above 1 MB and cuts long answers", () => {
  const all = { ...given, ingress: { ...values["ingress"], enabled: true, host: "gateway.test" } };
  const [made] = objectsOf<{ metadata: { annotations: object } }>("ingress.yaml", all);
  const own = "nginx.ingress.kubernetes.io/proxy-";
  expect(made!.metadata.annotations).toEqual({
    [`${own}body-size`]: "450m",
    [`${own}read-timeout`]: "3600",
    [`${own}send-timeout`]: "600",
  });
  const nginx = read("../../nginx/tollgate-proxy.conf");
  expect(nginx).toContain("client_max_body_size 450m;");
  expect(nginx).toContain("proxy_read_timeout 3600s;");
});

it("Kubernetes adds no variables of Services, which may have the names of the gateway's own", () => {
  const [made] = objectsOf<Deployment>("deployment.yaml", given);
  expect(made!.spec.template.spec).toMatchObject({ enableServiceLinks: false });
});

it("a pod listens on IPv4, or on both families where the cluster's pods have IPv6 addresses", () => {
  const hostsOf = (all: Values): unknown => {
    const [made] = objectsOf<Deployment>("deployment.yaml", all);
    const env = made!.spec.template.spec.containers[0]["env"] as { name: string; value: string }[];
    return env.filter((one) => one.name.endsWith("HOST")).map((one) => `${one.name}=${one.value}`);
  };
  expect(hostsOf(given)).toEqual(["HOST=0.0.0.0", "TOLLGATE_METRICS_HOST=0.0.0.0"]);
  expect(hostsOf({ ...given, host: "::" })).toEqual(["HOST=::", "TOLLGATE_METRICS_HOST=::"]);
});

it("probes and the Service use TLS if the gateway does, and only check the port if clients need a certificate", () => {
  const asks = (path: string, scheme: string): unknown =>
    expect.objectContaining({ httpGet: { path, port: "http", scheme } });
  const all = (scheme: string): unknown[] =>
    ["/healthz", "/healthz", "/readyz"].map((path) => asks(path, scheme));
  for (const config of [{}, { server: null }, { server: {} }])
    expect(probesOf({ ...given, config })).toEqual(all("HTTP"));
  expect(probesOf(withTls())).toEqual(all("HTTPS"));
  const looks = expect.objectContaining({ tcpSocket: { port: "http" } }) as unknown;
  expect(probesOf(withTls({ client_ca: "clients.pem" }))).toEqual([looks, looks, looks]);
  expect(portOf(given)).toEqual({ name: "http", port: 80, targetPort: "http" });
  expect(portOf(withTls())).toMatchObject({ name: "http", appProtocol: "https" });
});
