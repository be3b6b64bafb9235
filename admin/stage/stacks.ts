/** Stack as CloudFormation describes it. */
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

/** Action that a stack needs before it can be deployed. */
export type RequiredAction =
  /** The stack can be created or updated. */
  | 'deploy'
  /** CloudFormation is still at work, perhaps for a run that was stopped. */
  | 'wait'
  /** Its first creation failed: it holds no user data. */
  | 'delete'
  /** Its deletion failed, and the rest can hold data: only its operator can approve its deletion. */
  | 'finish the deletion'
  /** Its update and its rollback failed: only its operator can choose a resource to skip. */
  | 'roll back'

/** Every status of CloudFormation with its treatment. */
const TREATMENTS: Readonly<Record<string, RequiredAction>> = {
  // The stack has only a change set that was not executed; the next deploy replaces it.
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

/** Returns the treatment of a stack by its status; leaves an unknown status to the operator. */
export function deriveRequiredAction({ status }: Pick<StackState, 'status'>): RequiredAction {
  return TREATMENTS[status] ?? (status.endsWith('_IN_PROGRESS') ? 'wait' : 'roll back')
}

/** Sorts stacks from the newest to the oldest, because a stack depends only on older ones and must be removed before them. */
export function sortForRemoval(stacks: readonly StackState[]): StackState[] {
  return stacks.toSorted((left, right) => right.createdAt.getTime() - left.createdAt.getTime())
}
