/** The frame of pages that somebody opens by a link with a token: what it leads to, or that it leads nowhere any more. */
import { Anchor } from "@mantine/core";
import { useRouterState } from "@tanstack/react-router";
import { useEffect, type ReactNode } from "react";
import { ApiError, isFinal } from "../api/errors.ts";
import { FormError } from "./form-error.tsx";
import { Outside } from "./outside.tsx";
import { RegionError } from "./region-error.tsx";

/** The token of the link: behind the `#`, which no browser sends. */
export const useToken = (): string => useRouterState({ select: ({ location }) => location.hash });

interface LinkPageProps {
  readonly title: string;
  /** Said where it leads nowhere any more. */
  readonly gone: string;
  /** What was read of it. Whoever cannot reach the gateway need not ask for another link. */
  readonly read: { readonly error: unknown; readonly refetch: () => unknown };
  readonly children: ReactNode;
}

export function LinkPage({ title, gone, read, children }: LinkPageProps) {
  const isGone = useToken() === "" || (read.error != null && isFinal(read.error));
  useEffect(() => {
    document.title = `${title} - Tollgate`;
  }, [title]);
  return (
    <Outside title={title}>
      {!isGone && read.error != null && (
        <RegionError what="link" error={read.error} retry={read.refetch} />
      )}
      {!isGone && children}
      {isGone && (
        <>
          <FormError error={new ApiError(404, gone)} />
          <Anchor href="/">Go to the first page</Anchor>
        </>
      )}
    </Outside>
  );
}
