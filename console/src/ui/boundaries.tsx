/** Shown while a page loads slowly, when it fails, when an upgrade removed its script, and for unknown URLs. */
import { Anchor, Box, Button, Text, Title } from "@mantine/core";
import { useEffect } from "react";
import { RegionError } from "./region-error.tsx";
import { ApiError } from "../api/errors.ts";

const reloadedKey = "tollgate-reloaded";

/** An upgrade removes the scripts of the previous version: one reload loads the new ones. */
function useReloadOnce(error: unknown): void {
  useEffect(() => {
    const isMissingPart = error instanceof TypeError && /import|module/i.test(error.message);
    if (!isMissingPart || sessionStorage.getItem(reloadedKey) === location.href) return;
    sessionStorage.setItem(reloadedKey, location.href);
    location.reload();
  }, [error]);
}

export function RouteError({ error }: { error: unknown }) {
  useReloadOnce(error);
  return (
    <Box component="main" maw={640} mx="auto" p="xl">
      {error instanceof ApiError ? (
        <>
          <Title order={1} mb="lg">
            Tollgate
          </Title>
          <RegionError what="page" error={error} retry={() => location.reload()} />
        </>
      ) : (
        <>
          <Title order={1}>This page has an error</Title>
          <Text my="md">Reload it. Everything you saved is kept. No report was sent.</Text>
          <Button onClick={() => location.reload()}>Reload</Button>
        </>
      )}
    </Box>
  );
}

/** Shown while a page loads. */
export const Waiting = () => (
  <Text component="output" display="block" p="xl" className="muted">
    Loading
  </Text>
);

export function NotFound() {
  return (
    <Box component="main" maw={640} mx="auto" p="xl">
      <Title order={1}>There is no such page</Title>
      <Text my="md">It does not exist, or you may not see it.</Text>
      <Anchor href="/">Go to the first page</Anchor>
    </Box>
  );
}
