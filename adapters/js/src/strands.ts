/** A plugin for Strands Agents. Each agent has a guard of its own, even if agents share the plugin. */

// Hooks are registered by the classes of their events.
import {
  AfterToolCallEvent,
  AfterToolsEvent,
  BeforeToolCallEvent,
  BeforeToolsEvent,
  MessageAddedEvent,
  TextBlock,
  ToolResultBlock,
} from "@strands-agents/sdk";

import type { Decision } from "./decision.js";
import type { GuardsOptions } from "./guards.js";
import { fingerprint } from "./index.js";
import { failsOpen, Identities, Sessions, textOf } from "./sessions.js";

/** An agent of the framework, as far as the plugin uses it. */
interface Agent {
  addHook(event: any, hook: (event: any) => void): unknown;
}

/** The current turn of an agent's model. */
class Turn {
  step = 0;
  /** Why the run has to end. */
  stop: string | undefined;
}

/**
 * Adds notes to the results of repeated calls, refuses calls that keep failing, and ends stuck runs. Takes the options
 * of `Guards`. A run ends with the reason as the answer of the model.
 *
 * ```js
 * const agent = new Agent({ tools, plugins: [new UnstuckPlugin()] });
 * ```
 */
export class UnstuckPlugin {
  readonly name = "unstuck";
  readonly #sessions: Sessions;
  readonly #identities = new Identities();
  readonly #turns = new WeakMap<object, Turn>();

  constructor(options: GuardsOptions = {}) {
    this.#sessions = new Sessions(options);
  }

  /** Registers the hooks. The framework calls this. */
  initAgent(agent: Agent): void {
    const on = <E>(event: new (...args: never[]) => E, hook: (event: E) => void): void => {
      agent.addHook(event, failsOpen(this.#sessions, hook));
    };
    on(MessageAddedEvent, (event) => this.#added(event));
    on(BeforeToolsEvent, ({ agent }) => {
      this.#turnOf(agent).step += 1;
    });
    on(BeforeToolCallEvent, (event) => this.#before(event));
    on(AfterToolCallEvent, (event) => this.#after(event));
    on(AfterToolsEvent, (event) => this.#ended(event));
  }

  #added({ agent, message }: MessageAddedEvent): void {
    // Results of tools are in messages of the user, too.
    const { role, content } = message;
    if (role !== "user" || content.some(({ type }) => type === "toolResultBlock")) return;
    const text = textOf(content);
    // An image has no text.
    this.#sessions.userMessage(this.#identities.of(agent), typeof text === "string" ? text : fingerprint(content));
  }

  #before(event: BeforeToolCallEvent): void {
    const { name, toolUseId: id, input } = event.toolUse;
    const { step } = this.#turnOf(event.agent);
    const decision = this.#sessions.before(this.#identities.of(event.agent), name, input, { id, step });
    if (!decision?.blocked) return;
    event.cancel = decision.message ?? true;
    this.#remember(event.agent, decision);
  }

  #after(event: AfterToolCallEvent): void {
    const { agent, toolUse, result } = event;
    const session = this.#identities.of(agent);
    const error = result.status === "error";
    if (error && agent.cancelSignal?.aborted) {
      this.#sessions.cancelled(session, toolUse.toolUseId);
      return;
    }
    // This is called for a refused call, too. The guard knows that the call has ended.
    const decision = this.#sessions.after(session, toolUse.toolUseId, textOf(result.content), { error });
    if (decision === undefined) return;
    this.#remember(agent, decision);
    if (decision.message === undefined) return;
    const { toolUseId, status } = result;
    const content = [...result.content, new TextBlock(decision.message)];
    const cause = result.error === undefined ? {} : { error: result.error };
    event.result = new ToolResultBlock({ toolUseId, status, content, ...cause });
  }

  #ended(event: AfterToolsEvent): void {
    const turn = this.#turnOf(event.agent);
    if (turn.stop !== undefined) event.endTurn = turn.stop;
    turn.stop = undefined;
  }

  #remember(agent: object, decision: Decision): void {
    if (decision.endsRun) this.#turnOf(agent).stop = decision.message ?? "The run ends here.";
  }

  #turnOf(agent: object): Turn {
    let turn = this.#turns.get(agent);
    if (turn === undefined) this.#turns.set(agent, (turn = new Turn()));
    return turn;
  }
}
