/** A stack as CloudFormation describes it. */
export type StackState = {
  readonly name: string
  readonly status: string
  /** CloudFormation's reason for the status; may be empty. */
  readonly reason: string
  readonly createdAt: Date
  /** Protected stacks refuse deletion. */
  readonly isProtected: boolean
  readonly outputs: Readonly<Record<string, string>>
}

/** The work on a stack before it can be deployed. */
export type Treatment =
  /** Nothing: it can be created or updated. */
  | 'deploy'
  /** CloudFormation is still at work, perhaps for a run that was stopped. */
  | 'wait'
  /** Its first creation failed: it holds nothing that a user stored. */
  | 'delete'
  /** Its deletion failed, and what is left can hold data: only its operator can say that it may go. */
  | 'finish the deletion'
  /** Its update failed, and the way back too: only its operator can say which resource to skip. */
  | 'roll back'

/** Every status of CloudFormation, with what it asks of the next run. */
const TREATMENTS: Readonly<Record<string, Treatment>> = {
  // A change set that nobody executed; the next one replaces it.
  REVIEW_IN_PROGRESS: 'deploy',
  CREATE_COMPLETE: 'deploy',
  UPDATE_COMPLETE: 'deploy',
  UPDATE_ROLLBACK_COMPLETE: 'deploy',
  IMPORT_COMPLETE: 'deploy',
  IMPORT_ROLLBACK_COMPLETE: 'deploy',
  CREATE_FAILED: 'delete',
  ROLLBACK_COMPLETE: 'delete',
  ROLLBACK_FAILED: 'delete',
  DELETE_FAILED: 'finish the deletion',
  UPDATE_FAILED: 'roll back',
  UPDATE_ROLLBACK_FAILED: 'roll back',
  IMPORT_ROLLBACK_FAILED: 'roll back',
}

/** The treatment of a stack by its status; an unknown status is left to the operator. */
export function treatmentOf({ status }: Pick<StackState, 'status'>): Treatment {
  return TREATMENTS[status] ?? (status.endsWith('_IN_PROGRESS') ? 'wait' : 'roll back')
}

/** The same stacks in the order in which they can go: the newest rests on those before it. */
export function inOrderOfRemoval(stacks: readonly StackState[]): StackState[] {
  return stacks.toSorted((left, right) => right.createdAt.getTime() - left.createdAt.getTime())
}
