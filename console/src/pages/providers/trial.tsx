/** Sends one test call to the provider, and shows the answer. */
import { Button, Group, Select, Text } from "@mantine/core";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { readDuration } from "../../base/numbers.ts";
import { FormError } from "../../ui/form-error.tsx";
import { Part } from "../../ui/part.tsx";
import type { Provider } from "./state.ts";

const cheapest = "";

export function Trial({ provider }: { provider: Provider }) {
  const { id, models, credentials = [] } = provider;
  const [model, setModel] = useState(cheapest);
  const [credential, setCredential] = useState<string | null>(null);
  const trial = api.useMutation("post", "/admin/v1/providers/{id}/test");
  const test = () =>
    trial.mutate({
      params: { path: { id } },
      body: {
        ...(model !== cheapest && { model }),
        ...(credential !== null && { credential }),
      },
    });
  return (
    <Part title="Test">
      <Text mb="sm">
        One call of a few tokens. It costs what the vendor takes for it; no workspace is charged.
      </Text>
      <Group align="end" gap="sm">
        <Select
          label="Model"
          w={280}
          searchable
          limit={100}
          allowDeselect={false}
          data={[{ value: cheapest, label: "The cheapest" }, ...models]}
          value={model}
          onChange={(value) => setModel(value ?? cheapest)}
        />
        {credentials.length > 1 && (
          <Select
            label="Key"
            w={160}
            data={credentials.map((one) => one.id)}
            value={credential ?? credentials[0]!.id}
            onChange={setCredential}
            allowDeselect={false}
          />
        )}
        <Button variant="default" loading={trial.isPending} onClick={test}>
          Test provider
        </Button>
      </Group>
      <FormError error={trial.error} />
      <output aria-label="Answer of the test">
        {trial.data !== undefined && (
          <>
            <Text className={trial.data.ok ? "ok" : "bad"}>
              {trial.data.ok ? "Answered" : "No answer"}
              {trial.data.status !== null && ` (${trial.data.status})`} in{" "}
              {readDuration(trial.data.duration_ms)}, {trial.data.model}, key{" "}
              {trial.data.credential}
            </Text>
            <Text className="mono">{trial.data.message}</Text>
          </>
        )}
      </output>
    </Part>
  );
}
