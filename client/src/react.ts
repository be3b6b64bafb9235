import { useState, useSyncExternalStore } from 'react'
import { createFlow, type Flow, type FlowInputs, type FlowState } from './flow.ts'
import type { Client } from './operation.ts'

/**
 * A flow that begins here, with its state: `deposit`, `withdraw`, `claim` and `cancel` prepare transactions, `settle` and
 * `arrive` wait for what an earlier visit has sent. Another client, kind or input is another flow. While it is on no page, it
 * asks nothing.
 */
export function useFlow<Kind extends keyof FlowInputs>(
  client: Client,
  kind: Kind,
  input: FlowInputs[Kind],
): FlowState & Pick<Flow, 'next'> {
  const key = JSON.stringify([client.url, client.key, kind, input])
  const [held, hold] = useState(() => ({ key, flow: createFlow(client, kind, input) }))
  if (held.key !== key) hold({ key, flow: createFlow(client, kind, input) })
  const { subscribe, getState, next } = held.flow
  return { ...useSyncExternalStore(subscribe, getState, getState), next }
}

/** A deposit, from its approval to the shares; from another chain with `srcChainId` and `srcToken`. */
export function useDeposit(client: Client, input: FlowInputs['deposit']) {
  return useFlow(client, 'deposit', input)
}

/** A withdrawal, from the vault to the tokens; to another chain with `dstChainId` and `dstToken`. */
export function useWithdrawal(client: Client, input: FlowInputs['withdraw']) {
  return useFlow(client, 'withdraw', input)
}

/** A transfer between chains, followed by the hash of its source transaction to its end. */
export function useTransfer(client: Client, input: FlowInputs['arrive']) {
  return useFlow(client, 'arrive', input)
}
