/** Immediate actions on a provider: pause for an hour, resume, or remove for good. */
import { Button, Group } from "@mantine/core";
import { confirm } from "../../ui/confirm.tsx";
import { FormError } from "../../ui/form-error.tsx";
import { useMay } from "../../ui/use-may.ts";
import { usePause, useRemove, useResume } from "./mutations.ts";
import type { Provider } from "./state.ts";

export function Actions({ provider }: { provider: Provider }) {
  const pause = usePause(provider);
  const resume = useResume(provider);
  const remove = useRemove(provider);
  const mayPause = useMay("provider.pause");
  const mayRemove = useMay("provider.delete");
  const isPaused = provider.paused_until !== null;
  const isOurs = provider.source === "api";
  const ask = () =>
    confirm({
      title: `Remove ${provider.id}`,
      text: "It gets no new calls. Running calls and tasks finish with its keys. You cannot undo this: its keys are deleted.",
      action: "Remove provider",
      typed: provider.id,
      run: remove,
    });
  return (
    <>
      <Group mt="md" gap="sm">
        {/* One button, so that it keeps the focus. */}
        {mayPause && (
          <Button
            variant={isPaused ? "filled" : "default"}
            loading={pause.isPending || resume.isPending}
            onClick={() => (isPaused ? resume : pause).run({})}
          >
            {isPaused ? "Resume" : "Pause for 1 h"}
          </Button>
        )}
        {mayRemove && (
          <Button variant="outline" color="var(--bad)" ml="auto" disabled={!isOurs} onClick={ask}>
            Remove provider
          </Button>
        )}
      </Group>
      {mayRemove && !isOurs && (
        <p className="muted">To change or remove this provider, edit the place that defines it.</p>
      )}
      <FormError error={pause.error ?? resume.error} />
    </>
  );
}
