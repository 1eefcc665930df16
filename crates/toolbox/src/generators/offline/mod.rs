//! Makes and changes agents without a model: rules recognize a few kinds of goals and of changes, and everything else gets
//! a suggestion. The same words always give the same agent.

mod changes;
mod delivery;
mod draft;
mod goal;
mod kinds;
mod refusals;

use std::sync::Arc;

use async_trait::async_trait;
use ports::agent_generator::{
    AgentGoal, CustomizeAgent, Decomposition, GenerateAgent, Generated, GeneratorError, UpdateAgent,
};
use ports::call_services::GivenAgent;
use ports::{AgentGenerator, Block};

use changes::AgentChanger;
use delivery::Delivery;
use draft::AgentDraft;
use goal::{Goal, Sending};
use protocol::response::{SuggestedGoal, UserQuestion};

pub(crate) struct OfflineGenerator {
    changer: AgentChanger,
}

impl OfflineGenerator {
    pub(crate) fn new(blocks: &[Arc<dyn Block>]) -> Self {
        Self { changer: AgentChanger::new(blocks) }
    }
}

/// What a goal leads to.
enum Understood {
    Draft(Box<AgentDraft>),
    Question(UserQuestion),
    Suggestion(SuggestedGoal),
}

#[async_trait]
impl AgentGenerator for OfflineGenerator {
    async fn decompose(&self, goal: &AgentGoal) -> Result<Decomposition, GeneratorError> {
        Ok(match understand(goal) {
            Understood::Draft(draft) => Decomposition::Instructions(draft.instructions()),
            Understood::Question(question) => Decomposition::Questions(vec![question]),
            Understood::Suggestion(suggestion) => Decomposition::Suggestion(suggestion),
        })
    }

    /// The goal alone decides: the instructions were derived from it.
    async fn generate(&self, request: &GenerateAgent) -> Result<Generated, GeneratorError> {
        Ok(match understand(&request.goal) {
            Understood::Draft(draft) => Generated::Agent(GivenAgent::Spec(draft.spec())),
            Understood::Question(question) => Generated::Questions(vec![question]),
            Understood::Suggestion(suggestion) => Generated::Suggestion(suggestion),
        })
    }

    async fn update(&self, request: &UpdateAgent) -> Result<Generated, GeneratorError> {
        self.changer.change(&request.current_spec, &request.current, &request.change)
    }

    async fn customize(&self, request: &CustomizeAgent) -> Result<Generated, GeneratorError> {
        self.changer.change(&request.template_spec, &request.template, &request.change)
    }
}

fn understand(goal: &AgentGoal) -> Understood {
    let goal = Goal::of(goal);
    if let Some(suggestion) = refusals::unachievable(&goal) {
        return Understood::Suggestion(suggestion);
    }
    let Some(kind) = kinds::kind_of(&goal) else {
        return Understood::Suggestion(refusals::not_understood(&goal));
    };
    let mut draft = (kind.draft)(&goal);
    let send_to = match goal.sending(kind.reads_page) {
        Sending::No => None,
        Sending::To(address) => Some(address),
        Sending::Unknown { answered } => {
            return Understood::Question(delivery::address_question(draft.product.noun, answered));
        }
    };
    delivery::deliver(&mut draft, &Delivery { approval: goal.wants_approval(), send_to });
    Understood::Draft(Box::new(draft))
}
