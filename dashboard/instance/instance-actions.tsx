import type { ComponentChildren } from "preact";
import { change, may, path } from "../data/api.ts";
import type { Explanation, Instance } from "../data/types.ts";
import { newInstance } from "../screens/new-instance.tsx";
import { ask, perform } from "../shell/dialogs.tsx";
import { open } from "../shell/router.tsx";
import { knowsParams, readDetails } from "./inputs.tsx";
import { sendEvent } from "./send-event.tsx";

/** What can be done with an instance in its present state. */
export function InstanceActions(props: { readonly instance: Instance; readonly explanation: Explanation | null }) {
  const { instance, explanation } = props;
  const { workflowName, id, status, finishedAt } = instance;
  const url = `/workflows${path(workflowName)}/instances${path(id)}`;
  const finished = finishedAt !== null;
  const act = (name: string, body: unknown = {}) => change(`${url}/${name}`, body, { key: crypto.randomUUID() });
  const paused = status === "paused" || status === "waitingForPause";
  return (
    <>
      {may("events") && !finished && <Button onClick={() => void sendEvent(instance, explanation)}>Send event</Button>}
      {may("manage") && !finished && !paused && (
        <Button
          onClick={() => void perform("It will be paused when its running steps have ended.", () => act("pause"))}
        >
          Pause
        </Button>
      )}
      {may("manage") && paused && (
        <Button primary onClick={() => void perform("It is resumed.", () => act("resume"))}>
          Resume
        </Button>
      )}
      {may("manage") && status === "errored" && (
        <Button primary onClick={() => void perform("Its failed steps are tried again.", () => act("retry"))}>
          Retry
        </Button>
      )}
      {may("create") && <Button onClick={() => void startAnother(instance)}>Start another</Button>}
      {may("manage") && (
        <Button
          onClick={() =>
            ask({
              title: `Restart ${id}?`,
              text: "A new run begins from the beginning, with the same params. The steps of this run are not undone.",
              action: "Restart",
              danger: true,
              act: async () => {
                await act("restart");
                return "A new run has begun.";
              },
            })
          }
        >
          Restart
        </Button>
      )}
      {may("manage") && !finished && (
        <Button danger onClick={() => terminate(id, act)}>
          Terminate
        </Button>
      )}
      {may("manage") && finished && (
        <Button danger onClick={() => remove(id, url)}>
          Delete
        </Button>
      )}
    </>
  );
}

function Button(props: {
  readonly primary?: boolean;
  readonly danger?: boolean;
  readonly onClick: () => void;
  readonly children: ComponentChildren;
}) {
  const { primary, danger, onClick, children } = props;
  return (
    <button type="button" class={`button ${primary ? "primary" : danger ? "danger" : ""}`} onClick={onClick}>
      {children}
    </button>
  );
}

function terminate(id: string, act: (name: string, body: unknown) => Promise<unknown>): void {
  ask({
    title: `Terminate ${id}?`,
    text: "It ends now. A step that runs is aborted.",
    action: "Terminate",
    danger: true,
    fields: (
      <label class="check">
        <input type="checkbox" name="rollback" /> Roll back the steps that have begun
      </label>
    ),
    act: async (form) => {
      const rollback = form.get("rollback") !== null;
      await act("terminate", { rollback });
      return rollback ? "It is being rolled back." : "It is terminated.";
    },
  });
}

function remove(id: string, url: string): void {
  ask({
    title: `Delete ${id}?`,
    text: "The instance and its history are deleted. This can't be undone.",
    action: "Delete",
    danger: true,
    act: async () => {
      await change(url, {}, { method: "DELETE" });
      open("/workflows");
      return `${id} is deleted.`;
    },
  });
}

async function startAnother(instance: Instance): Promise<void> {
  const details = await readDetails(instance);
  const { workflowName: workflow, id, labels } = instance;
  newInstance([workflow], {
    workflow,
    ...(knowsParams(details) ? { params: details.params } : { unknownParamsOf: id }),
    ...(labels === undefined ? {} : { labels }),
  });
}
