import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { BASE, path } from "../data/api.ts";
import type { Instance } from "../data/types.ts";
import { Card } from "../parts/page.tsx";
import { Value } from "../parts/value.tsx";

interface InstanceInputs {
  readonly params?: unknown;
}

const PATIENCE_MS = 5000;

/** What an instance was given. Its params never change, so they are read once. */
export function Inputs({ instance }: { readonly instance: Instance }) {
  const inputs = useSignal<InstanceInputs | null>(null);
  useEffect(() => {
    void readInputs(instance).then((read) => (inputs.value = read));
  }, [instance.workflowName, instance.id]);
  if (inputs.value === null) return null;
  return (
    <Card title="Params">
      <Value of={inputs.value.params} label="params" />
    </Card>
  );
}

/** The first event of a run has the params. Null while it hasn't begun. */
export function readInputs({ workflowName, id, startedAt }: Instance): Promise<InstanceInputs | null> {
  if (startedAt === null) return Promise.resolve(null);
  return new Promise((resolve) => {
    const url = `${BASE}/api/workflows${path(workflowName)}/instances${path(id)}/subscribe?filter=workflow_started`;
    const source = new EventSource(url);
    const end = (inputs: InstanceInputs | null) => {
      source.close();
      clearTimeout(timer);
      resolve(inputs);
    };
    const timer = setTimeout(() => end(null), PATIENCE_MS);
    source.addEventListener("error", () => end(null));
    source.addEventListener("workflow_started", ({ data }: MessageEvent<string>) =>
      end(JSON.parse(data) as InstanceInputs),
    );
  });
}
