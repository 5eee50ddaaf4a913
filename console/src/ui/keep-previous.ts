/** Keeps numbers visible while newer ones of the same question load, but not those of another question. */

/** Query options for a question, which is independent of the current time. */
export const keepPreviousFor = (question: string) => ({
  meta: { question },
  placeholderData<Data>(
    before: Data | undefined,
    of: { readonly meta?: Readonly<Record<string, unknown>> | undefined } | undefined,
  ): Data | undefined {
    return of?.meta?.["question"] === question ? before : undefined;
  },
});
