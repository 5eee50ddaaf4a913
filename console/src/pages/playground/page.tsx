/** The playground: calls with one of the reader's keys, like any program. The browser stores no content. */
import { Group, SegmentedControl, Skeleton, Text } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense, useState, type ComponentType } from "react";
import { api } from "../../api/client.ts";
import { Empty } from "../../ui/empty.tsx";
import { KeySelect } from "../../ui/key-select.tsx";
import { NoWorkspace, useKeyWorkspace } from "../../ui/key-workspace.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Page } from "../../ui/page.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { useMay } from "../../ui/use-may.ts";
import { Spent } from "./cost.tsx";
import { modeNames, modes, rememberModels, type Mode } from "./modes.ts";
import type { ModeProps } from "./mode-props.ts";
import { Picker } from "./picker.tsx";
import {
  useResentCall,
  useCallable,
  useChosenKey,
  useFirstKey,
  useStoredBody,
  type Callable,
  type Key,
} from "./queries.ts";
import { prefilledInputOf } from "./prefilled-input.ts";
import { TextMode } from "./text-mode.tsx";
import { useChoice } from "./use-choice.ts";

const route = getRouteApi("/shell/playground");

/** Says what a resent call keeps of the original one. */
interface ResendNoteProps {
  readonly id: string;
  readonly choice: ReturnType<typeof useChoice>;
  readonly isPrefilled: boolean;
}

function ResendNote({ id, choice, isPrefilled }: ResendNoteProps) {
  if (choice.error !== null) return <RegionError what="request" error={choice.error} />;
  return (
    <Text size="sm" mb="md" mih={20} role="note" style={{ overflowWrap: "anywhere" }}>
      {choice.lost == null
        ? `Model, protocol and streaming are copied from ${id}.`
        : `This key cannot call ${choice.lost}, the model of ${id}.`}{" "}
      {isPrefilled
        ? "Its system text and last message are filled in, its parameters are not."
        : "Its prompt and parameters are not stored."}
    </Text>
  );
}

/** Modes other than text are loaded when they are chosen. */
const media: Partial<Record<Mode, ComponentType<ModeProps>>> = {
  image: lazy(async () => ({ default: (await import("./image-mode.tsx")).ImageMode })),
  edit: lazy(async () => ({ default: (await import("./edit-mode.tsx")).EditMode })),
  video: lazy(async () => ({ default: (await import("./video-mode.tsx")).VideoMode })),
  embedding: lazy(async () => ({ default: (await import("./embedding-mode.tsx")).EmbeddingMode })),
};

/** Shown if no model of the mode can be called. Readers who may add a provider are linked there, others are told to ask. */
function NoModel({ mode }: { mode: Mode }) {
  const mayAdd = useMay("provider.create");
  const text = `This key may not call any model for this (${modeNames[mode]}).`;
  return mayAdd ? (
    <Empty
      text={`${text} Add a provider that has one, or widen the allowlist of the key or its workspace.`}
      to="/providers"
      action="Show providers"
    />
  ) : (
    <Empty
      text={`${text} Ask an administrator for a provider, or for a wider allowlist.`}
      to="/start"
      action="Show the models of this key"
    />
  );
}

interface PlaygroundFormProps {
  readonly apiKey: Key;
  readonly callable: readonly Callable[];
  /** The stored request body of the call to resend. */
  readonly request: string | null;
}

function PlaygroundForm({ apiKey, callable, request }: PlaygroundFormProps) {
  const choice = useChoice(callable);
  const { search, mode, protocol, models, chosen, change } = choice;
  const prefilled = prefilledInputOf(protocol, request);
  const [ids, setIds] = useState<readonly string[]>([]);
  const choose = (chosenIds: readonly string[]) => {
    rememberModels(mode, chosenIds);
    change({ models: chosenIds.join(",") });
  };
  const Media = media[mode];
  const common: ModeProps = {
    apiKey,
    models,
    chosen,
    picker: <Picker {...{ mode, models, chosen, choose }} />,
    ended: (id) => setIds((before) => [...before, id]),
  };
  return (
    <>
      <Group justify="space-between" mb="md">
        <SegmentedControl
          aria-label="What to make"
          value={mode}
          data={modes.map((value) => ({ value, label: modeNames[value] }))}
          onChange={(value) => change({ mode: value, models: undefined })}
        />
        <Spent ids={ids} />
      </Group>
      {search.from !== undefined && (
        <ResendNote id={search.from} choice={choice} isPrefilled={prefilled !== undefined} />
      )}
      {models.length === 0 ? (
        <NoModel mode={mode} />
      ) : (
        <Suspense fallback={<Skeleton height={320} />}>
          {Media === undefined ? (
            <TextMode
              {...common}
              protocol={protocol}
              speak={(value) => change({ protocol: value })}
              streams={choice.streamed ?? true}
              prefilled={prefilled}
            />
          ) : (
            <Media key={mode} {...common} />
          )}
        </Suspense>
      )}
    </>
  );
}

/** Waits for the models that the key may call. */
function WithKey({ apiKey }: { apiKey: Key }) {
  const { from } = route.useSearch();
  const { data, error, refetch } = useCallable(apiKey.id);
  const kept = useStoredBody(from);
  const resent = useResentCall(from);
  // After a first error it is not awaited: the component that shows the error retries.
  const isAwaited =
    from !== undefined && resent.data === undefined && resent.errorUpdateCount === 0;
  const refusal = error !== null && <RegionError what="models" error={error} retry={refetch} />;
  // A draft survives a refused reload of the models.
  if (refusal !== false && data === undefined) return refusal;
  if (data === undefined || kept.isLoading || isAwaited) return <Skeleton height={320} />;
  return (
    <>
      {refusal}
      <PlaygroundForm apiKey={apiKey} callable={data} request={kept.data ?? null} />
    </>
  );
}

function NoKey({ ws }: { ws: string | undefined }) {
  const workspace = useKeyWorkspace(ws);
  if (workspace.isNone) return <NoWorkspace />;
  if (workspace.id === undefined) return null;
  return <Empty text="You have no key yet. A call needs one." to="/start" action="Create a key" />;
}

export function PlaygroundPage() {
  const { ws, from } = route.useSearch();
  const { data: resent } = useResentCall(from);
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  const [picked, setPicked] = useState<{ id: string | undefined; before: Key }>();
  const { first, isNone, error, refetch } = useFirstKey(ws, me?.user_id);
  const chosen = useChosenKey(picked?.id ?? resent?.key_id, ws);
  // A draft survives while another key loads.
  const apiKey = chosen === null ? first : (chosen ?? picked?.before);
  const choice = apiKey !== undefined && (
    <KeySelect ws={ws} value={apiKey.id} set={(id) => setPicked({ id, before: apiKey })} isActive />
  );
  return (
    <Page title="Playground" aside={choice}>
      {error !== null && <RegionError what="keys" error={error} retry={refetch} />}
      {!isNone && <Loading of={[{ data: apiKey, error }]} />}
      {isNone && <NoKey ws={ws} />}
      {apiKey !== undefined && <WithKey apiKey={apiKey} />}
    </Page>
  );
}
