/** One provider: its state, since when, affected models, and actions. */
import { Group, Text } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { ModelLink } from "../../ui/model-link.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Page } from "../../ui/page.tsx";
import { Part } from "../../ui/part.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { useNow } from "../../ui/use-now.ts";
import { useMay } from "../../ui/use-may.ts";
import { Actions } from "./actions.tsx";
import { AffectedTable } from "./affected.tsx";
import { Credentials } from "./credentials.tsx";
import { Errors } from "./errors.tsx";
import { useModelsOf, useProviders } from "./queries.ts";
import { Settings } from "./settings.tsx";
import { sentenceOf, sourceOf, stateLabelOf, type Provider } from "./state.ts";
import { Trial } from "./trial.tsx";

const route = getRouteApi("/shell/providers/$id");

function Models({ models }: { models: readonly string[] }) {
  return (
    <Part title={`Models (${models.length})`}>
      <Group gap="sm">
        {models.map((id) => (
          <span key={id} className="mono">
            <ModelLink id={id} />
          </span>
        ))}
      </Group>
    </Part>
  );
}

function Inside({ provider }: { provider: Provider }) {
  return (
    <>
      <Actions provider={provider} />
      <Errors provider={provider} />
      <Trial provider={provider} />
      <Credentials provider={provider} />
      <Settings provider={provider} />
    </>
  );
}

function One({ provider }: { provider: Provider }) {
  const now = useNow();
  const mayChange = useMay("provider.change");
  const { word, tone } = stateLabelOf(provider);
  const isAffecting = provider.paused_until !== null || (provider.health?.out.length ?? 0) > 0;
  const models = useModelsOf(provider.id, isAffecting);
  return (
    <>
      <Text size="lg" component="output" display="block">
        <span className={tone}>{word.charAt(0).toUpperCase() + word.slice(1)}.</span>{" "}
        {sentenceOf(provider, now)}
      </Text>
      <Group gap="lg" mt="sm" className="muted">
        <span>{provider.dialect}</span>
        <span>{provider.tier}</span>
        {provider.base_url !== undefined && <span className="mono">{provider.base_url}</span>}
        <span>{sourceOf(provider)}</span>
      </Group>
      {isAffecting && models.error !== null && (
        <RegionError what="affected models" error={models.error} retry={models.refetch} />
      )}
      {isAffecting && models.data !== undefined && (
        <AffectedTable provider={provider} models={models.data.data} />
      )}
      {mayChange && <Inside provider={provider} />}
      <Models models={provider.models} />
    </>
  );
}

export function ProviderPage() {
  const { id } = route.useParams();
  const read = useProviders();
  const provider = read.data?.data.find((one) => one.id === id);
  return (
    <Page title={id}>
      {read.error !== null && (
        <RegionError what="provider" error={read.error} retry={read.refetch} />
      )}
      <Loading of={[read]} />
      {read.data !== undefined && provider === undefined && <Stored id={id} />}
      {provider !== undefined && <One provider={provider} />}
    </Page>
  );
}

/** A provider that is not in force: it may be stored but excluded, or not exist. */
function Stored({ id }: { id: string }) {
  const read = api.useQuery("get", "/admin/v1/providers/{id}", { params: { path: { id } } });
  if (read.error !== null)
    return <RegionError what="provider" error={read.error} retry={read.refetch} />;
  return (
    read.data && (
      <Text>
        It is stored but not used: the configuration file has a provider of the same name.
      </Text>
    )
  );
}
