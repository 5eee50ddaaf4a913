/**
 * The content of deploy/ is true: variables, ports, paths and metrics exist, and the chart's values and templates fit each
 * other. Each file passes its own tool if that is installed. docs/deployment.md.
 */
import { execFile, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { dirname, join, matchesGlob } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { makeCertificate } from "../support/certificate.ts";
import { exampleOf, hasNginx, writeNginx } from "../support/nginx.ts";
import { temporaryDirectory } from "../support/postgres.ts";

const root = new URL("../..", import.meta.url).pathname;
const folder = join(root, "deploy");
const read = (path: string): string => readFileSync(join(folder, path), "utf8");
const files = globSync("**/*", { cwd: folder, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
const has = (command: string): boolean => spawnSync("which", [command]).status === 0;

/** Runs a tool. Returns its output if it fails, otherwise an empty text. */
const refusal = (command: string, ...words: string[]): string => {
  const { status, stdout, stderr } = spawnSync(command, words, { encoding: "utf8" });
  return status === 0 ? "" : stdout + stderr;
};

interface Service {
  readonly image: string;
  readonly ports?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

describe("the deployment files", () => {
  it("name only variables that the gateway reads", () => {
    const sources = globSync("src/{cli,base}/**/*.ts", { cwd: root }).map((path) =>
      readFileSync(join(root, path), "utf8"),
    );
    const known = new Set(sources.flatMap((text) => text.match(/\b[A-Z][A-Z_]{3,}\b/g) ?? []));
    const named = files.flatMap((path) =>
      (read(path).match(/\b(?:TOLLGATE_[A-Z_]+|DATABASE_URL|CREDENTIALS_DIRECTORY)\b/g) ?? []).map(
        (name) => `${path}: ${name.replace(/_FILE$/, "")}`,
      ),
    );
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((one) => !known.has(one.split(": ")[1]!))).toEqual([]);
  });

  it("build the image from everything in the package, including the pages that messages refer to", () => {
    const rules = read("docker/Dockerfile.dockerignore")
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => ({ pattern: line.replace("!", ""), isLeftOut: !line.startsWith("!") }));
    // Like Docker: a pattern matches a path or a folder above it, and the last match counts.
    const isLeftOut = (path: string): boolean => {
      const steps = path.split("/").map((_step, at, all) => all.slice(0, at + 1).join("/"));
      const rule = rules.findLast(({ pattern }) => steps.some((one) => matchesGlob(one, pattern)));
      return rule?.isLeftOut ?? false;
    };
    const [, list] = /^const pages = (\[.*\]);$/m.exec(
      readFileSync(join(root, "scripts/pack.mjs"), "utf8"),
    )!;
    const pages = (JSON.parse(list!) as string[])
      .filter((pattern) => pattern.endsWith(".md"))
      .flatMap((pattern) => globSync(pattern, { cwd: root }));
    expect(pages).toContain("docs/models.md");
    const built = globSync(["src/**/*.ts", "console/src/**/*", "catalog/*"], { cwd: root });
    expect([...pages, ...built].filter(isLeftOut)).toEqual([]);
    expect(["docs/openapi.json", "test/setup.ts", ".git/config"].filter(isLeftOut)).toHaveLength(3);
  });

  it("name the metric that the chart scales by as the gateway exports it", () => {
    const [metric] = /tollgate_\w+_in_flight/.exec(read("helm/tollgate/values.yaml"))!;
    const source = readFileSync(join(root, "src/http/operation/metrics.ts"), "utf8");
    expect(source).toContain(`"${metric}"`);
  });

  it("restart a gateway until its database is there", () => {
    const [unit, service] = read("systemd/tollgate.service").split(/^\[Service\]$/m);
    // In its own section, since systemd ignores it in the other one.
    expect(unit).toMatch(/^StartLimitIntervalSec=0$/m);
    expect(service).toMatch(/^Restart=on-failure$/m);
    for (const path of ["compose/embedded.yaml", "compose/postgres.yaml"])
      expect(read(path)).toMatch(/^ +restart: unless-stopped$/m);
  });

  it("keep the gateway from writing its own configuration under systemd", () => {
    const unit = read("systemd/tollgate.service");
    const [, made] = /^ConfigurationDirectory=(\S+)$/m.exec(unit)!;
    expect(unit).toMatch(/^ProtectSystem=strict$/m);
    expect(unit.split("\n")).toContain(`ReadOnlyPaths=/etc/${made}`);
  });

  it("use one port everywhere, and start the program of the package", () => {
    const dist = "/opt/tollgate/node_modules/tollgate/dist";
    expect(existsSync(join(root, "src/cli/main.ts"))).toBe(true);
    expect(read("docker/Dockerfile")).toContain(`ENTRYPOINT ["node", "${dist}/bin/tollgate.mjs"]`);
    // On a Node that is too old, this file says so, while the program itself fails on its syntax or a missing module.
    expect(read("systemd/tollgate.service")).toMatch(
      /^ExecStart=\/usr\/bin\/node \/opt\/tollgate\/node_modules\/tollgate\/dist\/bin\/tollgate\.mjs serve$/m,
    );
    for (const path of ["docker/Dockerfile", "systemd/tollgate.service"])
      expect(read(path)).toMatch(/\bPORT=8080\b/);
    expect(read("systemd/tollgate.service")).toMatch(/^ExecReload=\S+ -HUP \$MAINPID$/m);
    expect(read("docker/Dockerfile")).toMatch(/^EXPOSE 8080$/m);
    expect(read("docker/health.mjs")).toContain('"8080"');
    const deployment = read("helm/tollgate/templates/deployment.yaml");
    expect(deployment).toContain('{ name: PORT, value: "8080" }');
    expect(deployment).toContain("{ name: http, containerPort: 8080 }");
    expect(deployment).toContain('{ name: TOLLGATE_METRICS_PORT, value: "9090" }');
    expect(deployment).toContain("{ name: metrics, containerPort: 9090 }");
    for (const path of ["/healthz", "/readyz"]) expect(deployment).toContain(`"path" "${path}"`);
  });

  it("copy and mount only existing files; the image has a user, a health check and no npm", () => {
    const dockerfile = read("docker/Dockerfile");
    const copied = [...dockerfile.matchAll(/^COPY (\S+) \S+$/gm)].map(([, path]) => path!);
    expect(copied.filter((path) => path !== "." && !existsSync(join(root, path)))).toEqual([]);
    const [, shipped] = dockerfile.split("\nFROM debian");
    expect(shipped).toMatch(/^USER 10001:10001$/m);
    expect(shipped).toMatch(/^HEALTHCHECK .* CMD \[/m);
    expect(shipped).not.toMatch(/\b(?:npm|apt-get|gcc|make)\b/);
    for (const path of files.filter((one) => /^compose\/.*\.yaml$/.test(one))) {
      const { services } = parse(read(path), { merge: true }) as {
        services: Record<string, { volumes?: string[]; build?: { dockerfile: string } }>;
      };
      for (const { volumes = [], build = { dockerfile: "." } } of Object.values(services)) {
        const mounted = volumes
          .map((one) => one.split(":")[0]!)
          .filter((one) => one.startsWith("."));
        expect(mounted.filter((one) => !existsSync(join(folder, "compose", one)))).toEqual([]);
        expect(existsSync(join(root, build.dockerfile))).toBe(true);
      }
    }
  });

  it.runIf(process.platform === "linux")(
    "give the image every library that Node is linked to",
    () => {
      const question = "process.report.getReport().sharedObjects.join(' ')";
      const { stdout } = spawnSync(process.execPath, ["-p", question], { encoding: "utf8" });
      const linked = stdout.match(/[^/\s]+\.so\b\S*/g)!;
      const inSlim = /^(?:ld-linux|linux-vdso|lib(?:c|dl|m|pthread|gcc_s|stdc\+\+)\.so)/;
      const others = linked.filter((name) => !inSlim.test(name));
      expect(linked.length).toBeGreaterThan(others.length);
      const [build, shipped] = read("docker/Dockerfile").split("\nFROM debian");
      expect(others.filter((name) => !build!.includes(`/${name} /opt/libraries`))).toEqual([]);
      expect(shipped).toMatch(/^COPY --from=build \/opt\/libraries \/usr\/local\/lib$/m);
      expect(shipped).toMatch(/^RUN ldconfig\b/m);
    },
  );

  it("set the published address as the public URL in each compose file", () => {
    for (const path of files.filter((one) => /^compose\/.*\.yaml$/.test(one))) {
      const { services } = parse(read(path), { merge: true }) as {
        services: Record<string, Service>;
      };
      const all = Object.values(services);
      const [published] = all.flatMap(({ ports = [] }) => ports);
      const [, address] = /^(127\.0\.0\.1:\d+):\d+$/.exec(published!)!;
      const gateways = all.filter(({ image }) => image === "tollgate");
      expect(gateways.length).toBeGreaterThan(0);
      for (const { environment } of gateways)
        expect(environment?.["TOLLGATE_PUBLIC_URL"]).toContain(`:-http://${address}}`);
    }
  });

  it("have a health check that exits with 0 for a healthy gateway, also with TLS, and with 1 otherwise", async () => {
    const check = (port: number) =>
      new Promise((resolve) => {
        const env = { PATH: process.env["PATH"], PORT: String(port) };
        execFile(process.execPath, [join(folder, "docker/health.mjs")], { env }, (error) =>
          resolve(error?.code ?? 0),
        );
      });
    let status = 200;
    const plain = createServer((_, response) => response.writeHead(status).end());
    const secure = createSecureServer(makeCertificate(), (_, response) => response.end());
    const ports = [];
    for (const server of [plain, secure]) {
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      ports.push((server.address() as AddressInfo).port);
    }
    expect(await Promise.all(ports.map(check))).toEqual([0, 0]);
    status = 503;
    expect(await check(ports[0]!)).toBe(1);
    plain.close();
    secure.close();
    expect(await check(ports[0]!)).toBe(1);
  });
});

describe("the chart", () => {
  const chart = "helm/tollgate";
  const templates = files.filter((path) => path.startsWith(`${chart}/templates/`));
  const values = parse(read(`${chart}/values.yaml`)) as Record<string, unknown>;

  it("has values that fit their schema, and the schema refuses unknown values", () => {
    const check = new Ajv({ strict: false }).compile(
      JSON.parse(read(`${chart}/values.schema.json`)) as object,
    );
    expect(check(values)).toBe(true);
    expect(check({ ...values, replicas: 0 })).toBe(false);
    expect(check({ ...values, replica: 2 })).toBe(false);
  });

  it("has every value that a template names, and uses each of its values", () => {
    const used = new Set(
      templates.flatMap((path) =>
        [...read(path).matchAll(/\.Values\.([\w.]+)/g)].map(([, name]) => name!),
      ),
    );
    const at = (name: string): unknown =>
      name.split(".").reduce<unknown>((found, part) => (found as never)?.[part], values);
    // Operators set these themselves: a bucket and certificates are optional.
    for (const own of ["config.storage", "config.server"]) used.delete(own);
    expect([...used].filter((name) => at(name) === undefined)).toEqual([]);
    const leaves = Object.entries(values).flatMap(([name, value]) =>
      typeof value === "object" && value !== null && !Array.isArray(value) && name !== "resources"
        ? Object.keys(value).map((part) => `${name}.${part}`)
        : [name],
    );
    expect(leaves.filter((name) => !used.has(name))).toEqual([]);
  });

  it("closes each block of its templates, and has the version of the package", () => {
    for (const path of templates) {
      const words = [...read(path).matchAll(/\{\{-?\s*(\w+)/g)].map(([, word]) => word!);
      const opened = words.filter((word) => /^(?:if|with|range|define)$/.test(word)).length;
      expect([path, words.filter((word) => word === "end").length]).toEqual([path, opened]);
    }
    const { version, appVersion } = parse(read(`${chart}/Chart.yaml`)) as Record<string, string>;
    const own = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      version: string;
    };
    expect([version, appVersion]).toEqual([own.version, own.version]);
  });
});

describe("the deployment files, checked by their own tools", () => {
  it("are valid YAML", () => {
    const yaml = files.filter((path) => path.endsWith(".yaml") && !path.includes("/templates/"));
    expect(yaml.length).toBeGreaterThan(3);
    for (const path of yaml)
      for (const document of parseAllDocuments(read(path), { merge: true }))
        expect([path, document.errors]).toEqual([path, []]);
  });

  it.skipIf(!hasNginx)("are valid for nginx", () => {
    const directory = temporaryDirectory();
    const { cert, key } = makeCertificate();
    writeFileSync(join(directory, "cert.pem"), cert);
    writeFileSync(join(directory, "key.pem"), key);
    const secure = exampleOf("nginx/tollgate.conf", {
      "/etc/ssl/tollgate/fullchain.pem": join(directory, "cert.pem"),
      "/etc/ssl/tollgate/privkey.pem": join(directory, "key.pem"),
      "listen 80;": "listen 127.0.0.1:18080;",
      "listen 443 ssl;": "listen 127.0.0.1:18443 ssl;",
    });
    const plain = exampleOf("compose/nginx.conf", {
      "gateway-1": "127.0.0.1",
      "gateway-2": "127.0.0.2",
      "listen 80;": "listen 127.0.0.1:18080;",
    });
    for (const example of [secure, plain])
      expect(refusal("nginx", "-t", "-c", writeNginx(example), "-e", "stderr")).toBe("");
  });

  it.skipIf(!has("caddy"))("are valid for Caddy", () => {
    const words = ["--config", join(folder, "caddy/Caddyfile"), "--adapter", "caddyfile"];
    expect(refusal("caddy", "validate", ...words)).toBe("");
  });

  it.skipIf(!has("systemd-analyze"))("are valid for systemd, with the credentials", () => {
    const unit = join(temporaryDirectory(), "tollgate.service");
    mkdirSync(`${unit}.d`);
    const started = `ExecStart=${process.execPath}`;
    writeFileSync(
      unit,
      read("systemd/tollgate.service").replace("ExecStart=/usr/bin/node", started),
    );
    writeFileSync(join(`${unit}.d`, "credentials.conf"), read("systemd/credentials.conf"));
    const { stdout, stderr } = spawnSync("systemd-analyze", ["verify", unit], { encoding: "utf8" });
    const own = (stdout + stderr).split("\n").filter((line) => line.includes(dirname(unit)));
    expect(own).toEqual([]);
  });

  it("create each secret once, by the shell script", () => {
    const directory = temporaryDirectory();
    const script = join(directory, "make-secrets.sh");
    writeFileSync(script, read("compose/make-secrets.sh"));
    expect(refusal("sh", script)).toBe("");
    const secrets = globSync("secrets/*", { cwd: directory }).sort();
    const { secrets: wanted } = parse(read("compose/postgres.yaml"), { merge: true }) as {
      secrets: Record<string, { file: string }>;
    };
    expect(secrets.map((path) => `./${path}`)).toEqual(
      Object.values(wanted)
        .map(({ file }) => file)
        .sort(),
    );
    const before = secrets.map((path) => readFileSync(join(directory, path), "utf8"));
    expect(Buffer.from(before[2]!, "base64").length).toBe(32);
    expect(new URL(before[1]!).password).toBe(before[0]);
    expect(refusal("sh", script)).toBe("");
    expect(secrets.map((path) => readFileSync(join(directory, path), "utf8"))).toEqual(before);
  });
});
