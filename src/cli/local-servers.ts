/** Polls local model servers for their models: when the gateway starts, and repeatedly afterwards. docs/models.md. */
import type { Log } from "../base/log.ts";
import {
  localCatalog,
  localModels,
  type Catalog,
  type Model,
  type Provider,
} from "../catalog/index.ts";

interface WatchOptions {
  readonly providers: readonly Provider[];
  readonly log: Log;
  /** Called with every change. */
  readonly onChange: (catalog: Catalog) => void;
  /** Interval of the polling, in ms. */
  readonly everyMs?: number | undefined;
}

export interface LocalServers {
  /** Resolves when each server was asked once, or did not answer in time. */
  readonly asked: Promise<void>;
  close(): void;
}

const everyMsDefault = 30_000;
const answerMsMax = 3_000;

/** Starts the polling. A server that does not answer keeps its known models. */
export function watchLocalServers(options: WatchOptions): LocalServers {
  const { providers, log, onChange, everyMs = everyMsDefault } = options;
  const known = new Map<string, readonly Model[]>();
  const closed = new AbortController();
  const silent = new Set<string>();
  let announced = "";

  async function ask(provider: Provider): Promise<void> {
    try {
      const models = await modelsOf(provider, closed.signal);
      known.set(provider.id, models);
      silent.delete(provider.id);
    } catch (error) {
      if (closed.signal.aborted || silent.has(provider.id)) return;
      silent.add(provider.id);
      log.warn({ err: error, provider: provider.id }, "a local server does not tell its models");
    }
  }

  async function askAll(): Promise<void> {
    await Promise.all(providers.map(ask));
    const catalog = localCatalog(
      providers.map((provider) => ({ provider, models: known.get(provider.id) ?? [] })),
    );
    // Compare context lengths too: a restarted server may have another one under the same name. Ignore `created`, which some servers
    // set to the time of the request.
    const now = JSON.stringify([...catalog.models].map(([id, model]) => [id, contextOf(model)]));
    if (closed.signal.aborted || now === announced) return;
    announced = now;
    onChange(catalog);
  }

  const asked = askAll();
  const timer = setInterval(() => void askAll(), everyMs);
  timer.unref();
  return {
    asked,
    close() {
      clearInterval(timer);
      closed.abort();
    },
  };
}

const contextOf = (model: Model): number | null =>
  "contextLength" in model ? model.contextLength : null;

async function modelsOf(provider: Provider, closed: AbortSignal): Promise<readonly Model[]> {
  const { baseUrl, credentials } = provider;
  const apiKey = credentials[0]?.apiKey ?? "";
  const response = await fetch(`${baseUrl}/models`, {
    signal: AbortSignal.any([closed, AbortSignal.timeout(answerMsMax)]),
    headers: apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` },
  });
  const models = response.ok ? localModels(provider, await response.json()) : undefined;
  if (models !== undefined) return models;
  throw new Error(`${baseUrl}/models answers ${response.status} and no list of models`);
}
