//! A medium with stations that always have something to send, and what comes of it.

use truckee_wireless::{
    Destination, Loss, Medium, MediumConfig, NodeId, Packet, Position, RateControl, Report, Role,
    StationConfig, Time,
};

/// Who sends to whom, without end.
#[derive(Debug, Clone, Copy)]
pub struct Flow {
    pub from: u32,
    pub to: u32,
    pub bytes: u32,
}

/// A medium under saturated flows.
pub struct Cell {
    pub medium: Medium,
    flows: Vec<Flow>,
    next_id: u64,
    /// Packets delivered, by flow.
    pub delivered: Vec<u64>,
    /// Packets given up at the retry limit.
    pub given_up: u64,
    /// All that was reported, if it is wanted.
    pub log: Option<Vec<Report>>,
}

/// Stations at these places, each with this rate control.
pub fn stations(places: &[Position], rate: RateControl) -> Vec<StationConfig> {
    places.iter().map(|place| StationConfig::at(*place, rate)).collect()
}

impl Cell {
    pub fn new(config: &MediumConfig, stations: &[StationConfig], flows: &[Flow], seed: u64) -> Self {
        let medium = Medium::new(config, stations, seed).expect("a sound configuration");
        let delivered = vec![0; flows.len()];
        Self { medium, flows: flows.to_vec(), next_id: 0, delivered, given_up: 0, log: None }
    }

    /// Keeps every report.
    pub fn logged(mut self) -> Self {
        self.log = Some(Vec::new());
        self
    }

    /// Runs until then.
    pub fn run(&mut self, until: Time) {
        for flow in 0..self.flows.len() {
            self.fill(flow);
        }
        loop {
            let next = self.medium.next();
            if next > until {
                self.medium.advance(until);
                return;
            }
            self.medium.advance(next);
            while let Some(report) = self.medium.report() {
                self.hear(report);
            }
        }
    }

    fn hear(&mut self, report: Report) {
        match report {
            Report::Delivered { packet, .. } => {
                self.delivered[(packet % self.flows.len() as u64) as usize] += 1;
            }
            Report::Room { node, .. } => {
                for flow in 0..self.flows.len() {
                    if self.flows[flow].from == node.0 {
                        self.fill(flow);
                    }
                }
            }
            Report::Dropped { loss: Loss::RetryLimit(_), .. } => self.given_up += 1,
            _ => {}
        }
        if let Some(log) = &mut self.log {
            log.push(report);
        }
    }

    /// Packets of a flow have numbers that leave the flow's when divided by how many there are.
    fn fill(&mut self, flow: usize) {
        let Flow { from, to, bytes } = self.flows[flow];
        while self.medium.room(NodeId(from)) > 0 {
            let id = self.next_id * self.flows.len() as u64 + flow as u64;
            self.next_id += 1;
            let packet = Packet { id, bytes, to: Destination::Node(NodeId(to)) };
            self.medium.offer(NodeId(from), packet).expect("a station that is there");
        }
    }
}

/// One cell: an access point and clients, all at one place.
pub fn around_an_access_point(clients: u32, rate: RateControl) -> Vec<StationConfig> {
    let mut all = stations(&vec![Position::on_ground(0.0, 0.0); clients as usize + 1], rate);
    all[0].role = Role::AccessPoint;
    all[1..].iter_mut().for_each(|s| s.role = Role::Client(NodeId(0)));
    all
}
