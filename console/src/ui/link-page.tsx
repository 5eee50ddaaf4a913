/** The frame of pages opened by a link with a token: shows their content, or that the link is no longer valid. */
import { Anchor } from "@mantine/core";
import { useRouterState } from "@tanstack/react-router";
import { useEffect, type ReactNode } from "react";
import { ApiError, isFinal } from "../api/errors.ts";
import { FormError } from "./form-error.tsx";
import { NarrowPage } from "./narrow-page.tsx";
import { RegionError } from "./region-error.tsx";

/** The link's token: after the `#`, which browsers do not send. */
export const useToken = (): string => useRouterState({ select: ({ location }) => location.hash });

interface LinkPageProps {
  readonly title: string;
  /** Shown if the link is no longer valid. */
  readonly gone: string;
  /** The query of the link's object. If the gateway is unreachable, the page offers a retry, and does not ask for another link. */
  readonly read: { readonly error: unknown; readonly refetch: () => unknown };
  readonly children: ReactNode;
}

export function LinkPage({ title, gone, read, children }: LinkPageProps) {
  const isGone = useToken() === "" || (read.error != null && isFinal(read.error));
  useEffect(() => {
    document.title = `${title} - Tollgate`;
  }, [title]);
  return (
    <NarrowPage title={title}>
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
    </NarrowPage>
  );
}
